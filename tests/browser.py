"""A real browser without a screen, over the WebDriver protocol; tests are skipped where there is none."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Seen(NamedTuple):
    """A page as the browser has it."""

    url: str
    requests: list[str]
    """What was asked for, the page itself included."""
    errors: list[str]
    """Of scripts, of what may not be loaded, and so on."""


class Browser:
    """One session; ``width`` is that of its screen."""

    def __init__(self, address: str, program: str, width: int, dark: bool) -> None:
        scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
        options = {
            "binary": program,
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", *scheme],
            "mobileEmulation": {"deviceMetrics": {"width": width, "height": 900, "pixelRatio": 1, "mobile": False}},
            "perfLoggingPrefs": {"enableNetwork": True},
        }
        logs = {"browser": "ALL", "performance": "ALL"}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": logs}
        self._address = address
        made = self._asked("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{made['sessionId']}"

    def _asked(self, method: str, path: str, data: object = None) -> Any:
        body = json.dumps(data).encode() if data is not None else None
        request = urllib.request.Request(
            self._address + path, body, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def opened(self, path: Path) -> Seen:
        """Loads a file, and what happened meanwhile."""
        self._asked("POST", f"{self._session}/url", {"url": path.as_uri()})
        said = self._asked("POST", f"{self._session}/se/log", {"type": "browser"})
        events = [json.loads(one["message"])["message"] for one in
                  self._asked("POST", f"{self._session}/se/log", {"type": "performance"})]  # fmt: skip
        requests = [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]
        return Seen(path.as_uri(), requests, [one["message"] for one in said])

    def visited(self, address: str) -> None:
        """Loads what a server has."""
        self._asked("POST", f"{self._session}/url", {"url": address})

    def pressed(self, *chords: str) -> None:
        """Keys, chord by chord; the keys of a chord are held together."""
        actions: list[dict[str, object]] = []
        for chord in chords:
            actions += [{"type": "keyDown", "value": key} for key in chord]
            actions += [{"type": "keyUp", "value": key} for key in reversed(chord)]
            actions.append({"type": "pause", "duration": 80})
        keyboard = {"type": "key", "id": "keyboard", "actions": actions}
        self._asked("POST", f"{self._session}/actions", {"actions": [keyboard]})

    def evaluated(self, script: str) -> Any:
        """What a script in the page returns."""
        return self._asked("POST", f"{self._session}/execute/sync", {"script": script, "args": []})

    def printed(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self._asked("POST", f"{self._session}/print", {}))

    def shot(self, path: Path) -> None:
        """A picture of the whole page."""
        size = self._asked("POST", f"{self._session}/goog/cdp/execute", {"cmd": "Page.getLayoutMetrics", "params": {}})
        clip = {"x": 0, "y": 0, **{key: size["cssContentSize"][key] for key in ("width", "height")}, "scale": 1}
        params = {"format": "png", "captureBeyondViewport": True, "clip": clip}
        taken = self._asked(
            "POST", f"{self._session}/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": params}
        )
        path.write_bytes(base64.b64decode(taken["data"]))

    def close(self) -> None:
        """Ends the session."""
        self._asked("DELETE", self._session)


@contextmanager
def browser(width: int, *, dark: bool = False) -> Iterator[Browser]:
    """A browser for pages of files; the test is skipped where none is installed."""
    driver = shutil.which("chromedriver")
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if driver is None or program is None:
        pytest.skip("no chromium with its chromedriver here")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            _awaited(address)
            session = Browser(address, program, width, dark)
            try:
                yield session
            finally:
                session.close()
        finally:
            process.terminate()


def _awaited(address: str) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(address + "/status", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    pytest.fail("chromedriver does not answer")
