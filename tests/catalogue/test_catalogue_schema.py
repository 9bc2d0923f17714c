"""Every complaint about a catalogue file starts with file:line; nothing but CatalogueError ever comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from d9mlint.catalogue import load_from, read_examples
from d9mlint.model import CatalogueError, Rule

RULE = """\
id: D9M101
severity: warning
confidence: high
hazard: unseeded-rng
noise: algo
applies: {framework: torch, versions: ">=1.9"}
summary: A summary
why: Because.
remedy: Do something.
match: {call: numpy.random.rand}
message: A message
sources: [somewhere]
examples:
  - bad: "x = 1  # <-"
"""
EFFECTS = """\
package: numpy
aliases: {np2: numpy}
effects:
  - call: numpy.random.rand
    draws: numpy
"""
OPS = """\
framework: tensorflow
ops:
  - op: tf.x
    calls: tensorflow.x
    direction: forward
    devices: gpu
    status: [{versions: "<2", default: varies, deterministic_mode: same}]
    sources: here
"""
SUBJECTS = "call, set, env, import, iterate"
NAMES = "a dotted name such as `numpy.random.rand` (a last part `*` stands for any name)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "rules"
    for family in ("seeds", "ops", "effects"):
        (root / family).mkdir(parents=True)
    (root / "hazards.yaml").write_text("unseeded-rng: no seed at all\n")
    return root


def complaint(folder: Path, inner: str, text: str, full: bool = True) -> str:
    (folder / inner).write_text(text)
    with pytest.raises(CatalogueError) as caught:
        load_from(folder, full=full)
    return str(caught.value)


def test_the_base_is_fine(folder: Path) -> None:
    (folder / "seeds" / "a-rule.yaml").write_text(RULE)
    (folder / "effects" / "numpy.yaml").write_text(EFFECTS)
    (folder / "ops" / "tensorflow.yaml").write_text(OPS)
    assert load_from(folder, full=True).rules["a-rule"].match == {"call": "numpy.random.rand"}


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("severity:", "severety:", 2, "unknown key `severety` in the file; did you mean `severity`?"),
        ("noise: algo\n", "", 1, "the file lacks `noise`"),
        ("noise: algo\n", "noise: algo\nnoise: algo\n", 6, "duplicate key `noise` (first on line 5)"),
        ("noise: algo", "noise: algos", 5, "`noise` must be one of algo, impl, not `algos`; did you mean `algo`?"),
        ("noise: algo", "noise: 1", 5, "`noise` must be a string, not a number"),
        ("severity: warning", "severity: []", 2, "`severity` must be a string, not a list"),
        ("severity: warning", "1: warning", 2, "the keys of the file must be strings, not a number; put it in quotes"),
        ("D9M101", "D9M1", 1, "`id` must be D9M and three digits, not `D9M1`"),
        ("unseeded-rng", "unseeded-rg", 4, "unknown hazard `unseeded-rg`; did you mean `unseeded-rng`? (hazards.yaml"),
        ('">=1.9"', "about 2", 6, '`versions` must be a version specifier such as ">=2.8,<2.13", not `about 2`'),
        ('">=1.9"', "1.9", 6, "`versions` must be a string, not a number"),
        ("framework: torch, ", "", 6, "`versions` needs `framework` beside it"),
        ("torch,", "Torch Vision,", 6, "`framework` must be a package name in lower case such as `tensorflow`, not `T"),
        ("{framework", "{devise: gpu, framework", 6, "unknown key `devise` in `applies`; did you mean `device`?"),
        ("{framework", "{device: qpu, framework", 6, "`device` must be one of gpu, cpu, tpu, not `qpu`; did you mean"),
        ("A summary", '"  "', 7, "`summary` is empty"),
        ("A summary", '"a\\nb"', 7, "`summary` must be a single line"),
        ("Because.", "", 8, "`why` must be a string, not nothing"),
        ("Do something.", "[]", 9, "`remedy` is an empty list"),
        ("Do something.", "{}", 9, "`remedy` must be a string, not a mapping"),
        ("Do something.", "\n - versions: '>1'\n", 10, "`remedy` lacks `text`"),
        ("Do something.", "[{text: x, version: 1}]", 9, "unknown key `version` in `remedy`; did you mean `versions`?"),
        ("[somewhere]", "[1]", 12, "`sources` must be a string, not a number"),
        ("{call: numpy.random.rand}", "{}", 10, f"`match` needs exactly one of {SUBJECTS}; found none"),
        ("{call: numpy", "{env: X, call: numpy", 10, f"one of {SUBJECTS}; found `env` and `call`"),
        ("numpy.random.rand}", "numpy random}", 10, f"`call` must be {NAMES}, not `numpy random`"),
        ("call: numpy.random.rand", "set: a.*", 10, "`set` must be a dotted name such as `torch.backends.cudnn.bench"),
        ("call: numpy.random.rand", "env: [A, b c]", 10, "`env` must be the name of an environment variable, not `b c"),
        ("rand}", "rand, wenn: {}}", 10, "unknown key `wenn` in `match`; did you mean `when`?"),
        ("rand}", "rand, when: {}}", 10, "`when` is empty"),
        ("rand}", "rand, when: {a@b: 1}}", 10, "`a@b` in `when` must be a keyword, or keyword@position such as `se"),
        ("rand}", "rand, when: {a: {less: 1}}}", 10, "unknown key `less` in `a`"),
        ("rand}", "rand, when: {a: {gt: 1, not: 2}}}", 10, "the test at `a` needs exactly one of not, gt, contains"),
        ("rand}", "rand, when: {a: {gt: b}}}", 10, "`gt` must be a number, not a string"),
        ("rand}", "rand, when: {a: {gt: true}}}", 10, "`gt` must be a number, not true or false"),
        ("rand}", "rand, when: {a: {contains: 1}}}", 10, "`contains` must be a string, not a number"),
        ("rand}", "rand, when: {a: [[1]]}}", 10, "`a` must be a single value, not a list"),
        ("rand}", "rand, when: {a: []}}", 10, "`a` is an empty list"),
        ("rand}", "rand, when: {a: !!int x}}", 10, "`a` cannot be read as a number: `x`"),
        ("rand}", "rand, when: {a: 0x" + "f" * 99 + "}}", 10, "`a` is too large a number"),
        ("rand}", "rand, when: {a: !x y}}", 10, "`a` has the unknown tag !x"),
        ("rand}", "rand, if: {}}", 10, "`if` is empty"),
        ("rand}", "rand, unless: {module: x}}", 10, "unknown key `module` in `unless`"),
        ("rand}", "rand, unless: {program: [1]}}", 10, "`program` must be a string, not a number"),
        ("match: {call: numpy.random.rand}\n", "", 1, "the rule has neither `match` nor a Python module a_rule.py"),
        ("[somewhere]", "&x [*x]", 12, "anchors and aliases are not supported"),
        ("[somewhere]", "[" * 60, 12, "nested too deeply"),
        ("[somewhere]", "[", 13, "not valid YAML: did not find expected node content"),
        ("A message", "a \x07 bell", 11, "not valid YAML: control characters are not allowed"),
        ("examples:", "example:", 1, "the file lacks `examples`"),
        ("examples:", '"examples":', 14, "write `examples:` at the start of a line, unquoted, as the last key"),
        ('"x = 1  # <-"', "x\nid: D9M102", 15, "`examples` must be the last top-level key"),
        ('"x = 1  # <-"', "x\n---\n", 15, "`examples` must be the last top-level key"),
    ],
)
def test_rule(folder: Path, old: str, new: str, line: int, message: str) -> None:
    text = RULE.replace(old, new, 1)
    assert complaint(folder, "seeds/a-rule.yaml", text, full=False).startswith(f"rules/seeds/a-rule.yaml:{line}: ")
    assert message in complaint(folder, "seeds/a-rule.yaml", text, full=False)


@pytest.mark.parametrize(
    ("examples", "line", "message"),
    [
        ("[]", 13, "`examples` is an empty list"),
        ("x", 13, "`examples` must be a list, not a string"),
        ('\n  - badd: "# <-"', 14, "unknown key `badd` in `examples`; did you mean `bad`?"),
        ('\n  - bad: "x"', 14, "no line of the bad example ends in `# <-`"),
        ('\n  - good: "x # <-"', 14, "`good` must not have lines that end in `# <-`"),
        ("\n  - bad: 1", 14, "`bad` must be a string, not a number"),
        ("\n  - target: a", 14, "`good` and `fixed` may stand beside `bad`); found none"),
        ("\n  - fixed: a", 14, "found `fixed`"),
        ("\n  - good: a\n    missed: b", 14, "found `good`, `missed`"),
        ("\n  - good: a\n    target: a b", 15, "`target` must be a requirement such as tensorflow==2.4.1, not `a b`"),
        ("\n  - good: a\n    device: x", 15, "`device` must be one of gpu, cpu, tpu, not `x`"),
        ("\n  - good: a\n    args: {}", 15, "`args` must be a list, not a mapping"),
        ("\n  - good: a\n    args: [[]]", 15, "`args` must be a string, not a list"),
        ("\n  - good: {}", 14, "`good` has no files"),
        ("\n  - good: {a.py: 1}", 14, "`a.py` must be the text of the file, not a number"),
        *(
            (f"\n  - good: {{{name!r}: x}}", 14, f"`{name}` must be a relative path below the example, with `/`")
            for name in ("", "/a", "../a", "a/../b", "a//b", "a/", "c:x", "./a")
        ),
    ],
)
def test_examples(folder: Path, examples: str, line: int, message: str) -> None:
    text = RULE.partition("examples:")[0] + f"examples: {examples}\n"
    found = complaint(folder, "seeds/a-rule.yaml", text)
    assert found.startswith(f"rules/seeds/a-rule.yaml:{line}: ")
    assert message in found
    rule = load_from(folder).rules["a-rule"]
    with pytest.raises(CatalogueError) as caught:
        read_examples(rule)
    assert str(caught.value) == found


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("package: numpy\n", "", 1, "the file lacks `package`"),
        (EFFECTS, "package: numpy\n", 1, "an effect file needs `effects` or `aliases`"),
        (
            "{np2: numpy}",
            "{np 2: numpy}",
            2,
            "must be a dotted module prefix (a last part `*` stands for the modules in it)",
        ),
        ("draws", "draw", 5, "unknown key `draw` in `effects`; did you mean `draws`?"),
        ("draws: numpy", "when: {a: 1}", 4, "the effect says nothing; it needs one of seeds, draws, creates"),
        ("draws: numpy", "draws: Num Py", 5, "`draws` must be a word such as `op-determinism`, not `Num Py`"),
        ("draws: numpy", "order: up", 5, "`order` must be one of listing, set, completion, sorted, kept, not `up`"),
        ("draws: numpy", "trains: 1", 5, "`trains` must be true or false, not a number"),
        ("draws: numpy", "trains: {}", 5, "`trains` must be true or false, not a mapping"),
        (
            "draws: numpy",
            "seeds: a\n    argument: 0",
            6,
            "`argument` must be [position or null, keyword] such as",
        ),
        ("draws: numpy", "seeds: a\n    argument: [a, b]", 6, "`argument` must be [position or null, keyword]"),
        ("draws: numpy", "seeds: a\n    own_seed: [-1, b]", 6, "`own_seed` must be [position or null, keyword]"),
        ("draws: numpy", "seeds: a\n    own_seed: [null, '']", 6, "`` is no parameter name"),
        ("draws: numpy", "seeds: a\n    own_seed: [1, a b]", 6, "`a b` is no parameter name"),
        ("draws: numpy", "invokes: [{context: a}]", 5, "`invokes` lacks `argument`"),
        ("draws: numpy", "returns: 'a b'", 5, "`returns` must be a dotted type name or `self`, not `a b`"),
    ],
)
def test_effects(folder: Path, old: str, new: str, line: int, message: str) -> None:
    found = complaint(folder, "effects/numpy.yaml", EFFECTS.replace(old, new, 1))
    assert found.startswith(f"rules/effects/numpy.yaml:{line}: ")
    assert message in found


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("framework: tensorflow\n", "", 1, "the file lacks `framework`"),
        ("op: tf.x", "opp: tf.x", 3, "unknown key `opp` in `ops`; did you mean `op`?"),
        ("forward", "forwards", 5, "`direction` must be one of forward, backward, both, not `forwards`; did you mean"),
        ("gpu", "[gpu, cuda]", 6, "`devices` must be one of gpu, cpu, tpu, not `cuda`"),
        ("varies", "vary", 7, "`default` must be one of varies, same, not `vary`; did you mean `varies`?"),
        ("mode: same", "mode: error", 7, "`deterministic_mode` must be one of same, raises, varies, not `error`"),
        ('versions: "<2", ', "", 7, "`status` lacks `versions`"),
        ("sources: here", "why: x", 3, "`ops` lacks `sources`"),
    ],
)
def test_ops(folder: Path, old: str, new: str, line: int, message: str) -> None:
    found = complaint(folder, "ops/tensorflow.yaml", OPS.replace(old, new, 1))
    assert found.startswith(f"rules/ops/tensorflow.yaml:{line}: ")
    assert message in found


def test_remedy_versions_need_a_framework(folder: Path) -> None:
    text = RULE.replace(RULE.splitlines()[5] + "\n", "").replace("Do something.", "[{text: x, versions: '>1'}]")
    assert complaint(folder, "seeds/a-rule.yaml", text) == (
        "rules/seeds/a-rule.yaml:8: `versions` of a remedy needs `applies: {framework: ...}`"
    )


def test_what_a_remedy_needs_is_a_package_and_a_release(folder: Path) -> None:
    text = RULE.replace("Do something.", "[{text: x, needs: numpy}]")
    assert "`needs` must be a package and its first release that will do, not `numpy`" in complaint(
        folder, "seeds/a-rule.yaml", text
    )


def test_duplicates_and_names(folder: Path) -> None:
    (folder / "seeds" / "a-rule.yaml").write_text(RULE)
    (folder / "seeds" / "b-rule.yaml").write_text(RULE)
    found = complaint(folder, "ops/a-rule.yaml", RULE.replace("D9M101", "D9M103"))
    assert found.splitlines() == [
        "rules/seeds/a-rule.yaml:1: duplicate rule name (also in ops/a-rule.yaml)",
    ]
    (folder / "ops" / "a-rule.yaml").unlink()
    assert complaint(folder, "seeds/C_rule.yaml", RULE).splitlines() == [
        "rules/seeds/C_rule.yaml:1: a rule file is named like its rule, such as unseeded-numpy.yaml",
        "rules/seeds/b-rule.yaml:1: duplicate id D9M101 (also in seeds/a-rule.yaml)",
    ]


@pytest.mark.parametrize("inner", ["stray.yaml", "seeds/deep/rule.yaml", "seeds/rule.yml"])
def test_no_file_stays_unread(folder: Path, inner: str) -> None:
    (folder / inner).parent.mkdir(exist_ok=True)
    assert complaint(folder, inner, RULE) == f"rules/{inner}:1: a rule file lies at <family>/<name>.yaml"


def test_hidden_files_do_not_count(folder: Path) -> None:
    (folder / "seeds" / ".a-rule.yaml.swp.yaml").write_text("junk")
    assert load_from(folder).rules == {}


def test_module_or_match(folder: Path, tmp_path: Path) -> None:
    modules = tmp_path / "modules"
    (modules / "seeds").mkdir(parents=True)
    (modules / "seeds" / "__init__.py").touch()
    (modules / "seeds" / "_help.py").touch()
    (modules / "seeds" / "a_rule.py").write_text("raise SystemExit  # never imported")
    path = folder / "seeds" / "a-rule.yaml"
    path.write_text(RULE.replace("match: {call: numpy.random.rand}\n", ""))
    assert load_from(folder, modules=modules).rules["a-rule"].match is None
    path.write_text(RULE)
    with pytest.raises(CatalogueError, match=r"a-rule\.yaml:10: the rule has both `match` and a Python module a_rule"):
        load_from(folder, modules=modules)
    path.unlink()
    (folder / "ops" / "a-rule.yaml").write_text(OPS)
    with pytest.raises(CatalogueError, match=r"^modules/seeds/a_rule\.py:1: no rule file named seeds/a-rule\.yaml for"):
        load_from(folder, modules=modules)


def test_module_in_the_folder_of_another_family(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "modules" / "data").mkdir(parents=True)
    (tmp_path / "modules" / "data" / "a_rule.py").touch()
    (folder / "seeds" / "a-rule.yaml").write_text(RULE.replace("match: {call: numpy.random.rand}\n", ""))
    with pytest.raises(CatalogueError) as error:
        load_from(folder, modules=tmp_path / "modules")
    assert "a-rule.yaml:1: the rule has neither `match` nor a Python module a_rule.py" in str(error.value)
    assert "modules/data/a_rule.py:1: no rule file named data/a-rule.yaml for this module" in str(error.value)


def test_aliases_agree(folder: Path) -> None:
    (folder / "effects" / "a.yaml").write_text("package: a\naliases: {x: y, np2: numpy}\n")
    assert complaint(folder, "effects/b.yaml", "package: b\naliases:\n  np2: numpy\n  x: z\n") == (
        "rules/effects/b.yaml:4: alias `x` already stands for `y`"
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "1: the file is empty"),
        ("- a", "1: the file must be a mapping, not a list"),
        ("a: b\nB_: c", "2: a key must be a slug such as `worker-rng`, not `B_`"),
        ("a: b\nb: 1", "2: `b` must be a string, not a number"),
        ("a: b\n---\nc: d\n", "2: not valid YAML: but found another document"),
    ],
)
def test_hazards(folder: Path, text: str, found: str) -> None:
    assert complaint(folder, "hazards.yaml", text) == f"rules/hazards.yaml:{found}"


def test_not_utf8(folder: Path) -> None:
    (folder / "hazards.yaml").write_bytes(b"a: b\nc: \xff\n")
    with pytest.raises(CatalogueError, match=r"^rules/hazards\.yaml:2: not valid UTF-8$"):
        load_from(folder)


def test_byte_order_mark_and_windows_line_ends(folder: Path) -> None:
    (folder / "seeds" / "a-rule.yaml").write_bytes(b"\xef\xbb\xbf" + RULE.replace("\n", "\r\n").encode())
    assert load_from(folder, full=True).rules["a-rule"].summary == "A summary"


_WORDS = st.sampled_from(
    [*RULE.split(), *EFFECTS.split(), *OPS.split(), "- ", "\n", "\n  ", ": ", "{", "}", "[", "]", "&a", "*a", "<<", "|"]
)
_TEXTS = st.one_of(
    st.text().map(lambda text: text.encode("utf-8", "replace")),
    st.binary(),
    st.lists(_WORDS, max_size=40).map(lambda words: " ".join(words).encode()),
    st.tuples(st.sampled_from([RULE, EFFECTS, OPS]), st.integers(0, 500), st.integers(0, 20), _WORDS).map(
        lambda cut: (cut[0][: cut[1]] + cut[3] + cut[0][cut[1] + cut[2] :]).encode()
    ),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_TEXTS, st.sampled_from(["hazards.yaml", "seeds/a-rule.yaml", "ops/a.yaml", "effects/a.yaml"]), st.booleans())
@example(b"[" * 100_000, "hazards.yaml", True)
@example(b"package: .\n\n !\neffects:", "effects/a.yaml", False)
@example(b"? " * 5_000, "seeds/a-rule.yaml", True)
@example(b"a: " + b"9" * 10_000, "ops/a.yaml", True)
@example(RULE.partition("  - ")[0].encode() + b"  - " * 9_000, "seeds/a-rule.yaml", True)
def test_nothing_but_catalogue_error(folder: Path, text: bytes, inner: str, full: bool) -> None:
    path = folder / inner
    before = path.read_bytes() if path.exists() else None
    path.write_bytes(text)
    try:
        for rule in load_from(folder, full=full).rules.values():
            assert isinstance(rule, Rule)
            read_examples(rule)
    except CatalogueError as error:
        assert all(line.startswith("rules/") for line in str(error).splitlines())
    finally:
        path.write_bytes(before) if before is not None else path.unlink()
