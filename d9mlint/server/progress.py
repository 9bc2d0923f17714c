"""The progress that a client shows, with a button that ends the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer


class Progress:
    """The progress of one run after the other; clients that show none are told nothing."""

    def __init__(self, server: LanguageServer, stop: Callable[[], None]) -> None:
        self._server = server
        self._stop = stop
        self._number = 0
        self._shown: asyncio.Task[str | None] | None = None

    def told(self, done: int, total: int, name: str) -> None:
        """How far the run is; the first time has the client show it."""
        window = self._server.client_capabilities.window
        if window is None or not window.work_done_progress:
            return
        if self._shown is None:
            self._number += 1
            self._shown = asyncio.get_running_loop().create_task(self._begin(f"d9mlint/{self._number}"))
        elif token := self._token():
            share = min(100 * done // total, 100) if total else None
            self._send(token, types.WorkDoneProgressReport(message=f"{done}/{total} {name}", percentage=share))

    def ended(self) -> None:
        """The run is over."""
        shown, self._shown = self._shown, None
        if shown is not None:
            shown.add_done_callback(self._end)

    async def _begin(self, token: str) -> str | None:
        try:
            await self._server.work_done_progress.create_async(token)
        except JsonRpcException:
            return None
        future = self._server.work_done_progress.tokens[token]
        future.add_done_callback(lambda one: self._stop() if one.cancelled() else None)
        self._send(token, types.WorkDoneProgressBegin(title="d9mlint", cancellable=True, percentage=0))
        return token

    def _token(self) -> str | None:
        """The token that the client knows; None where it has not answered yet."""
        done = self._shown is not None and self._shown.done() and not self._shown.cancelled()
        return self._shown.result() if done and self._shown is not None else None

    def _end(self, shown: asyncio.Task[str | None]) -> None:
        if not shown.cancelled() and (token := shown.result()):
            self._send(token, types.WorkDoneProgressEnd())
            self._server.work_done_progress.tokens.pop(token, None)

    def _send(self, token: str, value: Any) -> None:
        self._server.protocol.notify(types.PROGRESS, types.ProgressParams(token=token, value=value))
