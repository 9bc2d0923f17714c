"""The language server, spoken to by a real client in another process."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from conftest import Ran
from editor import Editor, editor
from lsprotocol import types

DRAW = "import numpy as np\n\n\ndef draw():\n    return np.random.rand(3)\n"
TRAIN = "from lib.draws import draw\n\nif __name__ == '__main__':\n    print(draw())\n"
SEEDED = "import numpy as np\n\nfrom lib.draws import draw\n\nif __name__ == '__main__':\n    np.random.seed(1)\n    print(draw())\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one program of two files, and another that stands alone."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").touch()
    (tmp_path / "lib" / "draws.py").write_text(DRAW)
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "other.py").write_text(DRAW + "\nif __name__ == '__main__':\n    draw()\n")
    return tmp_path


def session(root: Path, talk: Callable[[Editor], Coroutine[Any, Any, None]], **more: Any) -> None:
    async def run() -> None:
        async with editor(root, **more) as client:
            await talk(client)

    asyncio.run(run())


def rules(found: list[types.Diagnostic]) -> list[object]:
    return [one.code for one in found]


def test_a_file_is_judged_when_it_is_opened_and_saved(root: Path) -> None:
    async def talk(client: Editor) -> None:
        client.open("other.py")
        assert rules(await client.found("other.py")) == ["unseeded-numpy"]
        client.save("other.py", "print('nothing random')\n")
        assert await client.found("other.py") == []
        assert client.messages == []

    session(root, talk)


@pytest.mark.slow
def test_what_is_open_is_judged_as_the_program_that_reaches_it(root: Path) -> None:
    async def talk(client: Editor) -> None:
        client.open("lib/draws.py")
        (found,) = await client.found("lib/draws.py")
        assert (found.code, found.source, found.severity) == (
            "unseeded-numpy",
            "d9mlint",
            types.DiagnosticSeverity.Warning,
        )
        assert found.range == types.Range(types.Position(4, 11), types.Position(4, 28))
        assert "which nothing seeds\nfix: call `np.random.seed(1)`" in found.message
        assert client.uri("other.py") not in client.diagnostics  # no program that is open reaches it

        client.open("train.py")
        client.type("train.py", SEEDED)  # not saved yet: judged from its text when anything is saved
        client.save("lib/draws.py")
        assert await client.until(lambda: client.diagnostics.get(client.uri("lib/draws.py")) == [])
        assert (root / "train.py").read_text() == TRAIN

        client.close("train.py")  # what was typed is gone
        assert await client.until(lambda: client.diagnostics.get(client.uri("lib/draws.py")))
        client.close("lib/draws.py")
        assert await client.until(lambda: client.diagnostics.get(client.uri("lib/draws.py")) == [])
        assert client.messages == []

    session(root, talk)


@pytest.mark.slow
def test_hovers_tell_about_rules_and_ops(root: Path) -> None:
    text = DRAW + "\nimport tensorflow as tf\nfrom torch.nn import functional as F\nx = (tf.gather, F.interpolate)\n"

    async def talk(client: Editor) -> None:
        client.open("lib/draws.py", text)
        await client.found("lib/draws.py")
        assert (await client.hover("lib/draws.py", 4, 15)).startswith("# unseeded-numpy (D9M102)")
        assert (await client.hover("lib/draws.py", 8, 9)).startswith("# tf.gather (op)")
        assert "interpolate" in (await client.hover("lib/draws.py", 8, 20)).splitlines()[0]
        assert await client.hover("lib/draws.py", 8, 0) == ""
        assert await client.hover("lib/draws.py", 3, 5) == ""

    session(root, talk)


@pytest.mark.slow
def test_fixes_and_suppressions_take_the_finding_away(root: Path) -> None:
    async def talk(client: Editor) -> None:
        text = (root / "other.py").read_text()
        client.open("other.py")
        assert rules(await client.found("other.py")) == ["unseeded-numpy"]
        offered = await client.actions("other.py", 4)
        assert list(offered) == [
            "Cure unseeded-numpy", "Suppress unseeded-numpy here", "Apply all safe fixes of d9mlint",
        ]  # fmt: skip
        assert list(await client.actions("other.py", 0)) == ["Apply all safe fixes of d9mlint"]
        assert list(await client.actions("other.py", 4, "source.fixAll")) == ["Apply all safe fixes of d9mlint"]
        assert list(await client.actions("other.py", 4, "refactor")) == []

        suppressed = client.applied(offered["Suppress unseeded-numpy here"], "other.py", text)
        assert "    # d9m: ignore[unseeded-numpy] TODO: say why this may vary\n    return np.random" in suppressed
        client.save("other.py", suppressed)
        assert await client.found("other.py") == []

        client.save("other.py", text)
        assert rules(await client.found("other.py")) == ["unseeded-numpy"]
        client.type("other.py", "# a line above that is not saved yet\n" + text)
        cure = await client.code_action_resolve_async(offered["Cure unseeded-numpy"])
        cured = client.applied(cure, "other.py", "# a line above that is not saved yet\n" + text)
        assert "np.random.seed(1)" in cured
        client.save("other.py", cured)
        assert await client.found("other.py") == []
        assert client.messages == []

    session(root, talk)


@pytest.mark.slow
def test_related_places_stand_in_their_files(root: Path) -> None:
    (root / "lib" / "draws.py").write_text(DRAW + "\n\ndef more():\n    return np.random.randn(4)\n")
    (root / "train.py").write_text(TRAIN.replace("import draw", "import draw, more") + "    print(more())\n")

    async def talk(client: Editor) -> None:
        client.open("train.py")
        (found,) = await client.found("lib/draws.py")
        assert found.related_information is not None
        (related,) = found.related_information
        assert (related.location.uri, related.location.range.start.line) == (client.uri("lib/draws.py"), 8)

    session(root, talk)


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 18), ("utf-16", 16), ("utf-32", 15)])
def test_columns_are_counted_as_the_client_counts(root: Path, encoding: str, column: int) -> None:
    (root / "other.py").write_text(
        "import numpy as np\nif __name__ == '__main__':\n    print('\N{SNAKE}', np.random.rand(3))\n", encoding="utf-8"
    )

    async def talk(client: Editor) -> None:
        client.open("other.py")
        (found,) = await client.found("other.py")
        assert found.range.start == types.Position(2, column)

    session(root, talk, encodings=(encoding,))


@pytest.mark.slow
def test_settings_come_with_the_start_or_on_demand(root: Path) -> None:
    async def ignored(client: Editor) -> None:
        client.open("other.py")
        assert await client.found("other.py") == []
        params = types.DidChangeConfigurationParams({"d9mlint": {"select": ["unseeded-numpy"]}})
        client.workspace_did_change_configuration(params)
        assert rules(await client.found("other.py")) == ["unseeded-numpy"]
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"d9mlint": {"tarrget": []}}))
        await client.until(lambda: client.messages)
        assert client.messages[0].startswith("d9mlint: d9mlint.tarrget is no setting; there are target, device")

    session(root, ignored, options={"ignore": ["unseeded-numpy"]})

    async def asked(client: Editor) -> None:
        client.open("other.py")
        assert await client.until(lambda: client.diagnostics.get(client.uri("other.py")) == [])

    session(root, asked, configuration={"ignore": ["unseeded-numpy"], "device": None})


@pytest.mark.slow
def test_a_broken_configuration_is_shown_and_cured_by_the_next_save(root: Path) -> None:
    (root / "d9mlint.toml").write_text("ignored = []\n")

    async def talk(client: Editor) -> None:
        client.open("other.py")
        await client.until(lambda: client.messages)
        assert "d9mlint.toml" in client.messages[0]
        (root / "d9mlint.toml").unlink()
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([]))
        assert rules(await client.found("other.py")) == ["unseeded-numpy"]

    session(root, talk)


@pytest.mark.slow
def test_while_somebody_types(root: Path) -> None:
    async def talk(client: Editor) -> None:
        client.open("other.py")
        assert len(await client.found("other.py")) == 1
        for text in (
            "import numpy as np\n",
            "import numpy as np\nnp.random.se",
            "import numpy as np\nif __name__ == '__main__':\n    np.random.rand()\n",
        ):
            client.type("other.py", text)
        assert await client.until(lambda: client.diagnostics.get(client.uri("other.py")))
        (found,) = client.diagnostics[client.uri("other.py")]
        assert found.range.start.line == 2
        client.type("other.py", "def broken(:\n    import numpy\n")
        await client.until(lambda: rules(client.diagnostics[client.uri("other.py")]) == ["not-checked"])

    session(root, talk, options={"run": "onType"})


@pytest.mark.slow
def test_the_last_of_many_saves_counts(root: Path) -> None:
    async def talk(client: Editor) -> None:
        client.open("other.py")
        for number in range(6):
            client.save("other.py", DRAW + "\n" * number + "\nif __name__ == '__main__':\n    draw()\n")
        client.save("other.py", "print('nothing random')\n")
        await asyncio.sleep(1)
        await client.until(lambda: client.diagnostics.get(client.uri("other.py")) == [])

    session(root, talk)


@pytest.mark.slow
def test_progress_is_shown_and_can_be_cancelled(root: Path) -> None:
    for number in range(60):
        (root / f"train_{number}.py").write_text(TRAIN + f"    np = {number}\n")

    async def talk(client: Editor) -> None:
        client.stop_at_first_progress = True
        client.open("lib/draws.py")
        await client.until(lambda: any(one["kind"] == "end" for one in client.progress))
        assert client.progress[0] == {"kind": "begin", "title": "d9mlint", "cancellable": True, "percentage": 0}
        assert client.diagnostics == {}
        client.save("lib/draws.py")
        assert rules(await client.found("lib/draws.py")) == ["unseeded-numpy"]
        await client.until(lambda: sum(one["kind"] == "end" for one in client.progress) == 2)
        assert any(one["kind"] == "report" and "/61 " in one["message"] for one in client.progress)

    session(root, talk)


@pytest.mark.slow
def test_notebooks_are_judged_by_cell(root: Path) -> None:
    sources = ["# A title", "import numpy as np", "x = 1\nprint(np.random.rand(3))"]
    kinds = ["markdown", "code", "code"]
    cells = [
        {"cell_type": kind, "metadata": {}, "source": text, **({"outputs": [], "execution_count": None} if kind == "code" else {})}
        for kind, text in zip(kinds, sources, strict=True)
    ]  # fmt: skip
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / "n.ipynb").write_text(json.dumps(notebook))

    async def talk(client: Editor) -> None:
        uri = client.uri("n.ipynb")
        items = [types.TextDocumentItem(f"{uri}#cell{i}", "python", 1, text) for i, text in enumerate(sources)]
        listed = [
            types.NotebookCell(
                types.NotebookCellKind.Code if kind == "code" else types.NotebookCellKind.Markup, item.uri
            )
            for kind, item in zip(kinds, items, strict=True)
        ]
        document = types.NotebookDocument(uri, "jupyter-notebook", 1, listed)
        client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))
        await client.until(lambda: f"{uri}#cell2" in client.diagnostics)
        (found,) = client.diagnostics[f"{uri}#cell2"]
        assert (found.code, found.range.start) == ("unseeded-numpy", types.Position(1, 6))

    session(root, talk)


@pytest.mark.slow
def test_files_of_no_workspace_and_other_languages(root: Path) -> None:
    kernel = (
        "__global__ void scatter(float* out, const float* in, const int* index) {\n"
        "  atomicAdd(out + index[threadIdx.x], in[threadIdx.x]);\n}\n"
    )
    (root / "user").mkdir()
    (root / "user" / "k.cu").write_text(kernel)
    (root / "user" / "a.py").write_text("print(1)\n")

    async def talk(client: Editor) -> None:
        client.open("k.cu", language="cuda-cpp")
        (found,) = await client.found("k.cu")
        assert found.code == "float-atomic"
        offered = await client.actions("k.cu", 1)
        suppressed = client.applied(offered["Suppress float-atomic here"], "k.cu", kernel)
        client.save("k.cu", suppressed)
        assert await client.found("k.cu") == []
        client.open("../other.py")  # in no folder of the workspace: a program by itself
        assert rules(await client.found("../other.py")) == ["unseeded-numpy"]

    session(root / "user", talk)


# --- the command ------------------------------------------------------------------------------------------------------


def test_without_the_extra_the_command_says_what_is_missing(
    d9mlint: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [one for one in sys.modules if one.startswith(("d9mlint.server", "pygls"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygls", None)
    ran = d9mlint("server")
    assert (ran.code, ran.out) == (2, "")
    assert "pip install 'd9mlint[server]'" in ran.err


@pytest.mark.slow
def test_the_server_ends_with_its_client(root: Path) -> None:
    command = [sys.executable, "-m", "d9mlint", "server", "--stdio"]
    done = subprocess.run(
        command, cwd=root, input=b"", capture_output=True, timeout=30, env=dict(os.environ), check=False
    )
    assert done.stdout == b""
