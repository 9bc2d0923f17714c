"""Parts of the language server that need no client."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from d9mlint.model import Finding, Location, UsageError
from d9mlint.server.actions import REASON, suppression
from d9mlint.server.hovers import dotted_name, imported
from d9mlint.server.settings import _READERS, Settings, settings

if sys.version_info >= (3, 11):
    import tomllib as toml
else:
    import tomli as toml

HERE = Path("/work")


def found(path: str, line: int, rule: str = "cudnn-benchmark") -> Finding:
    return Finding(rule, "D9M001", "h", "impl", "warning", "high", "m", Location(path, line, 1, line, 2))


def test_settings_are_read_on_their_own_or_in_their_section() -> None:
    given = {
        "target": ["torch==2.4"],
        "minConfidence": "low",
        "config": "a/b.toml",
        "run": "onType",
        "timeout": 3,
        "device": None,
    }
    wanted = Settings(("torch==2.4",), None, (), (), "low", HERE / "a" / "b.toml", "onType", 3.0)
    assert settings(given, HERE) == settings({"d9mlint": given}, HERE) == wanted
    assert settings(None, HERE) == settings({}, HERE) == Settings()
    options = wanted.options()
    assert (options.target, options.min_confidence, options.timeout, options.jobs) == (("torch==2.4",), "low", 3.0, 1)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"select": "a"}, "d9mlint.select: expected a list of strings, got 'a'"),
        ({"device": "abacus"}, "d9mlint.device: expected one of gpu, cpu, tpu, got 'abacus'"),
        ({"timeout": True}, "d9mlint.timeout: expected a number of seconds, got True"),
        ({"config": ""}, "d9mlint.config: expected a string, got ''"),
        ({"colour": 1}, "d9mlint.colour is no setting; there are target, device,"),
        ({"d9mlint": []}, "the settings of d9mlint are no object: []"),
        ([], "the settings of d9mlint are no object: []"),
    ],
)
def test_what_is_wrong_with_settings_is_told(given: object, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        settings(given, HERE)
    assert str(raised.value).startswith(told)


def test_names_are_what_import_lines_make_of_them() -> None:
    text = (
        "import tensorflow.compat.v1 as tf, os.path\nfrom torch.nn import (\n    functional as F,\n    Linear,\n)\n"
        "from numpy import random  # all\nfrom .x import y\nx = tf.math.add(F.interpolate(z), os.path.join, Linear, tf\n"
    )
    assert imported(text) == {
        "tf": "tensorflow.compat.v1", "os": "os", "F": "torch.nn.functional", "Linear": "torch.nn.Linear",
        "random": "numpy.random", "y": ".x.y",
    }  # fmt: skip
    line = text.split("\n")[7]
    for word, name in (
        ("tf.math", "tensorflow.compat.v1"), ("math", "tensorflow.compat.v1.math"),
        ("add", "tensorflow.compat.v1.math.add"), ("interpolate", "torch.nn.functional.interpolate"),
        ("Linear", "torch.nn.Linear"), ("z)", "z"),
    ):  # fmt: skip
        assert dotted_name(text, 7, line.index(word)) == name
    assert dotted_name(text, 7, line.index("=")) == dotted_name(text, 99, 0) == ""


def test_a_suppression_stands_above_its_line_or_joins_the_one_there() -> None:
    lines = ["if x:\n", "    a(\n", "        b)\n"]
    edit = suppression(found("a.py", 2), lines)
    assert edit is not None
    assert edit.location == Location("a.py", 2, 1, 2, 1)
    assert edit.text == f"    # d9m: ignore[cudnn-benchmark] {REASON}\n"
    known = ["    # d9m: ignore[float-atomic] because\n", "    a()\r\n"]
    joined = suppression(found("a.py", 2), known)
    assert joined is not None
    column = joined.location.column - 1
    assert (
        known[0][:column] + joined.text + known[0][column:]
        == "    # d9m: ignore[float-atomic, cudnn-benchmark] because\n"
    )
    windows = suppression(found("a.cu", 1), ["  f();\r\n"])
    assert windows is not None
    assert windows.text == f"  // d9m: ignore[cudnn-benchmark] {REASON}\r\n"
    assert suppression(found("a.json", 1), ["{}\n"]) is None
    assert suppression(found("a.py", 2), ["x = 1 + \\\n", "    f()\n"]) is None
    assert suppression(found("a.py", 7), lines) is None


def test_the_extension_offers_the_settings_of_the_server() -> None:
    package = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    offered = package["contributes"]["configuration"]["properties"]
    own = offered.pop("d9mlint.command")
    assert own["default"] == ["d9mlint", "server"]
    assert sorted(offered) == sorted(f"d9mlint.{name}" for name in _READERS)
    by_default = {name.removeprefix("d9mlint."): one["default"] for name, one in offered.items()}
    assert settings(by_default, HERE) == Settings()
    for name, one in offered.items():
        for word in one.get("enum", ()):
            settings({name.removeprefix("d9mlint."): word}, HERE)


def test_the_page_about_editors_names_the_settings_and_its_examples_are_read() -> None:
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    table = page.partition("| setting | meaning |")[2].partition("\n\n")[0]
    named = [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted(_READERS)
    (helix,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    given = toml.loads(helix)["language-server"]["d9mlint"]
    assert [given["command"], *given["args"]] == ["d9mlint", "server"]
    assert settings(given["config"], HERE) == Settings(device="gpu")
    (neovim,) = re.findall(r"```lua\n(.*?)```", page, re.DOTALL)
    assert re.search(r'cmd = \{ "d9mlint", "server" \}', neovim)
    (options,) = re.findall(r"init_options = \{ (.*) \}", neovim)
    assert settings(dict(re.findall(r'(\w+) = "(\w+)"', options)), HERE) == Settings(device="gpu")
