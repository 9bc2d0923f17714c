"""The extension in a real VS Code without a screen: code-server and Chromium, where both are installed.

`npm install code-server` brings the one; its `out/node/entry.js` is named by D9MLINT_CODE_SERVER, or `code-server` is on the PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from browser import Browser, browser
from conftest import ROOT

EXTENSION = ROOT / "editors" / "vscode"
SERVER = os.environ.get("D9MLINT_CODE_SERVER")
COMMAND = ["node", SERVER] if SERVER else [found] if (found := shutil.which("code-server")) else []
PROGRAM = "import numpy as np\n\nif __name__ == '__main__':\n    print(np.random.rand(3))\n"
CONTROL, ENTER, ESCAPE = "\ue009", "\ue007", "\ue00c"
SQUIGGLES = "return document.querySelectorAll('.squiggly-warning').length"
HOVER = "return [...document.querySelectorAll('.monaco-hover-content')].map(one => one.innerText).join()"
MENU = "return [...document.querySelectorAll('.action-widget .monaco-list-row')].map(one => one.innerText)"
TEXT = "return document.querySelector('.view-lines').innerText"
EDITOR = "document.querySelector('.monaco-editor textarea, .native-edit-context').focus()"
T = TypeVar("T")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not COMMAND, reason="no code-server here"),
    pytest.mark.skipif(shutil.which("npm") is None, reason="no npm, which packages the extension"),
]


def test_vs_code_shows_a_finding_and_cures_it(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    program = workspace / "train.py"
    program.write_text(PROGRAM)
    with served(tmp_path, packaged(tmp_path)) as port, browser(1300) as window:
        opened = json.dumps([["openFile", f"vscode-remote://127.0.0.1:{port}{program}"]])
        asked = urllib.parse.urlencode({"folder": str(workspace), "payload": opened})
        window.visited(f"http://127.0.0.1:{port}/?{asked}")
        assert awaited(lambda: window.evaluated(SQUIGGLES)) == 1

        go_to(window, "4:14")
        window.pressed(CONTROL + "k", CONTROL + "i")
        told = awaited(lambda: hover if "unseeded" in (hover := window.evaluated(HOVER)) else "")
        assert "draws from NumPy's global generator, which nothing seeds" in told
        assert "d9mlint(unseeded-numpy)" in told

        window.pressed(ESCAPE, CONTROL + ".")
        offered = awaited(lambda: menu if len(menu := window.evaluated(MENU)) > 2 else [])
        assert offered == ["Quick Fix", "Cure unseeded-numpy", "Suppress unseeded-numpy here"]
        window.pressed(ENTER)
        awaited(lambda: "seed(1)" in window.evaluated(TEXT))
        window.pressed(CONTROL + "s")
        awaited(lambda: not window.evaluated(SQUIGGLES))
        assert program.read_text() == PROGRAM.replace("if __name__", "np.random.seed(1)\n\nif __name__")


def packaged(folder: Path) -> Path:
    """The extension, made as `npm run package` makes it."""
    copy = folder / "extension"
    shutil.copytree(EXTENSION, copy, ignore=shutil.ignore_patterns("node_modules", "out", "*.vsix"))
    for words in (["ci", "--silent", "--no-audit", "--no-fund"], ["run", "--silent", "package"]):
        done = subprocess.run(["npm", *words], cwd=copy, capture_output=True, text=True, check=False, timeout=600)
        if done.returncode and words[0] == "ci":
            pytest.skip("the registry of npm is out of reach")
        assert done.returncode == 0, done.stdout + done.stderr
    return copy / "d9mlint.vsix"


@contextmanager
def served(folder: Path, extension: Path) -> Iterator[int]:
    """code-server with the extension; the port that it listens at."""
    data = folder / "data"
    settings = {"d9mlint.command": [sys.executable, "-m", "d9mlint", "server"], "files.autoSave": "off"}
    (data / "User").mkdir(parents=True)
    (data / "User" / "settings.json").write_text(json.dumps(settings))
    env = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}
    words = [*COMMAND, "--user-data-dir", str(data), "--extensions-dir", str(folder / "extensions")]
    subprocess.run([*words, "--install-extension", str(extension)], env=env, capture_output=True, check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words += ["--auth", "none", "--bind-addr", f"127.0.0.1:{port}"]
    words += ["--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(words, env=env, stdout=log, stderr=subprocess.STDOUT) as process,
    ):
        try:
            awaited(lambda: answers(f"http://127.0.0.1:{port}/healthz"))
            yield port
        finally:
            process.terminate()


def answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=5).close()
    except (urllib.error.URLError, OSError):
        return False
    return True


def go_to(window: Browser, place: str) -> None:
    """Puts the cursor at ``line:column``, by the keys that people use."""
    window.evaluated(EDITOR)
    window.pressed(CONTROL + "g")
    awaited(lambda: window.evaluated("return document.querySelectorAll('.quick-input-widget').length"))
    window.pressed(*place, ENTER)


def awaited(look: Callable[[], T], seconds: float = 120) -> T:
    """What ``look`` sees as soon as that is something."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.2)
    return seen
