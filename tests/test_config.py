"""Finding, reading and refusing configuration files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.config import Config, ignored_in, load, shown
from d9mlint.model import ConfigError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository that is the working directory."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def refused(start: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load(start)
    return str(caught.value)


def test_defaults_and_root_without_any_file(project: Path) -> None:
    (project / "a" / "b").mkdir(parents=True)
    config = load(project / "a" / "b")
    assert config == Config(root=project)
    assert (config.path, config.device, config.fail_on, config.min_confidence) == (None, "gpu", "warning", "medium")
    assert config.args is None


def test_root_is_the_start_where_there_is_no_repository(tmp_path: Path) -> None:
    assert load(tmp_path).root in (tmp_path.resolve(), *tmp_path.resolve().parents)


def test_every_key(project: Path) -> None:
    for name in ("train.py", "ops.yaml"):
        write(project / name, "")
    (project / "lib").mkdir()
    file = write(
        project / "pyproject.toml",
        """
        [tool.d9mlint]
        select = ["seeds", "D9M203"]
        ignore = ["unseeded-numpy"]
        exclude = ["third_party/", "!build/"]
        entrypoints = ["train.py"]
        roots = ["lib"]
        target = ["tensorflow==2.4.1", "horovod>=0.21"]
        device = "tpu"
        fail-on = "error"
        min-confidence = "low"
        catalogues = ["ops.yaml"]
        baseline = "known/d9m.json"
        args = ["--seed", ""]
        [tool.d9mlint.per-file-ignores]
        "tests/*" = ["unseeded-numpy"]
        """,
    )
    assert load(project) == Config(
        root=project,
        path=file,
        origin="pyproject.toml: [tool.d9mlint]",
        select=("seeds", "D9M203"),
        ignore=("unseeded-numpy",),
        exclude=("third_party/", "!build/"),
        entrypoints=(project / "train.py",),
        roots=(project / "lib",),
        target=("tensorflow==2.4.1", "horovod>=0.21"),
        device="tpu",
        fail_on="error",
        min_confidence="low",
        per_file_ignores={"tests/*": ("unseeded-numpy",)},
        catalogues=(project / "ops.yaml",),
        baseline=project / "known" / "d9m.json",
        args=("--seed", ""),
    )


def test_nearest_file_counts_and_a_file_may_be_the_start(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.d9mlint]\ndevice = 'cpu'\n")
    write(project / "sub" / "pyproject.toml", "[tool.d9mlint]\ndevice = 'tpu'\n")
    script = write(project / "sub" / "deep" / "train.py", "")
    assert load(script).device == "tpu"
    assert load(project).device == "cpu"


def test_pyproject_without_our_table_is_passed_over(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.d9mlint]\ndevice = 'cpu'\n")
    write(project / "sub" / "pyproject.toml", "[project]\ndependencies = ['d9mlint']\n")
    write(project / "sub" / "deep" / "pyproject.toml", "broken, but = not about us")
    assert load(project / "sub" / "deep").device == "cpu"


def test_own_file_wins_in_the_same_folder(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.d9mlint]\ndevice = 'cpu'\n")
    write(project / "d9mlint.toml", "device = 'tpu'\n")
    assert load(project).device == "tpu"
    assert load(project).origin == "d9mlint.toml:"


def test_search_stops_at_the_repository(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.d9mlint]\ndevice = 'cpu'\n")
    (project / "inner" / ".git").mkdir(parents=True)
    config = load(project / "inner")
    assert (config.device, config.root) == ("gpu", project / "inner")


def test_explicit_file(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.d9mlint]\ndevice = 'cpu'\n")
    other = write(project / "ci" / "strict.toml", "device = 'tpu'\n")
    config = load(project, Path("ci/strict.toml"))
    assert (config.device, config.path, config.root) == ("tpu", other, project / "ci")
    with pytest.raises(ConfigError, match=r"^nowhere.toml: cannot be read: No such file or directory$"):
        load(project, Path("nowhere.toml"))
    write(project / "plain" / "pyproject.toml", "[project]\n")
    with pytest.raises(ConfigError, match=r"^plain/pyproject.toml: no \[tool.d9mlint\] table$"):
        load(project, Path("plain/pyproject.toml"))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("fail-on = 'bad'", "fail-on: expected one of info, warning, error, got 'bad'"),
        ("fail-on = 3", "fail-on: expected one of info, warning, error, got 3"),
        ("device = true", "device: expected one of gpu, cpu, tpu, got true"),
        ("min-confidence = ['low']", "min-confidence: expected one of low, medium, high, got ['low']"),
        ("select = 'seeds'", "select: expected a list of strings, got 'seeds'"),
        ("select = ['a', 1]", "select: expected a list of strings, got 1 in it"),
        ("ignore = ['']", "ignore: an entry is empty"),
        ("exclude = {a = 1}", "exclude: expected a list of strings, got a table"),
        ("fail_on = 'error'", "unknown key 'fail_on'; did you mean 'fail-on'?"),
        ("selct = []", "unknown key 'selct'; did you mean 'select'?"),
        ("entrypoints = ['gone.py']", "entrypoints: file not found: gone.py"),
        ("roots = ['gone']", "roots: folder not found: gone"),
        ("catalogues = ['.']", "catalogues: file not found: ."),
        ("baseline = ''", "baseline: expected a path, got ''"),
        ("target = ['tensorflow=2']", "target: expected requirements like 'tensorflow==2.4.1', got 'tensorflow=2'"),
        ("per-file-ignores = []", "per-file-ignores: expected a table of pattern = [names], got []"),
        ("per-file-ignores = {'a' = 'b'}", "per-file-ignores: 'a': expected a list of strings, got 'b'"),
    ],
)
def test_bad_values(project: Path, line: str, text: str) -> None:
    write(project / "pyproject.toml", f"[tool.d9mlint]\n{line}\n")
    assert refused(project) == f"pyproject.toml: [tool.d9mlint] {text}"
    write(project / "d9mlint.toml", line)
    assert refused(project) == f"d9mlint.toml: {text}"


def test_unknown_key_without_a_neighbour_lists_the_keys(project: Path) -> None:
    write(project / "d9mlint.toml", "zzz = 1")
    assert refused(project).startswith("d9mlint.toml: unknown key 'zzz'; known keys: select, ignore, exclude,")


def test_a_table_that_is_none(project: Path) -> None:
    write(project / "pyproject.toml", "[tool]\nd9mlint = 3\n")
    assert refused(project) == "pyproject.toml: [tool] d9mlint: expected a table, got 3"


def test_broken_toml_names_file_and_line(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.d9mlint]\n\ndevice = \n")
    (project / "sub").mkdir()
    assert refused(project / "sub").startswith("pyproject.toml:3: not valid TOML: Invalid value (at line 3")
    (project / "d9mlint.toml").write_bytes(b"device = 'gpu'\n# \xff\n")
    assert refused(project) == "d9mlint.toml:2: not valid TOML: not UTF-8"
    (project / "d9mlint.toml").write_text("select = " + "[" * 100_000)
    assert refused(project) == "d9mlint.toml: not valid TOML: nested too deeply"


def test_unreadable_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project / "d9mlint.toml", "")

    def refuse(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert refused(project) == "d9mlint.toml: cannot be read: Permission denied"


def test_shown(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(project / "a")
    assert shown(project / "a" / "b" / "x.py") == "b/x.py"
    assert shown(project / "pyproject.toml") == "../pyproject.toml"
    assert shown(project / "c" / "x.py") == (project / "c" / "x.py").as_posix()


def test_per_file_ignores(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config(root=project, per_file_ignores={"tests/": ("b", "a"), "*_test.py": ("c", "a"), "/x.py": ("d",)})
    monkeypatch.chdir(project)
    paths = [Path("tests/deep/x_test.py"), Path("x.py"), Path("pkg/x.py"), Path("/elsewhere/y_test.py")]
    assert ignored_in(config, paths) == {paths[0]: ("a", "b", "c"), paths[1]: ("d",), paths[3]: ("a", "c")}
    assert ignored_in(config._replace(per_file_ignores={}), paths) == {}
    with pytest.raises(ConfigError, match=r"^configuration: per-file-ignores: bad pattern '!': "):
        ignored_in(config._replace(per_file_ignores={"!": ("a",)}), paths)


@given(st.text(max_size=60), st.sampled_from(["select", "device", "target", "baseline", "roots", "x", "args"]))
def test_any_text_is_a_config_or_a_config_error(tmp_path_factory: pytest.TempPathFactory, text: str, key: str) -> None:
    file = tmp_path_factory.getbasetemp() / "d9mlint.toml"
    for content in (text, f"{key} = {text}", f"{key} = '''{text}'''", f"{key} = ['''{text}''']"):
        file.write_bytes(content.encode("utf-8", "surrogatepass"))
        try:
            assert load(file.parent, file).path == file.resolve()
        except ConfigError as error:
            assert str(error).startswith(f"{file}:")
