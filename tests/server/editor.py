"""A client of the language server as editors are: a process of its own, spoken to on standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

PATIENCE = 60.0
"""Seconds after which an answer is missing."""


class Editor(LanguageClient):
    """What the server has said so far, and ways to say something to it."""

    def __init__(self, root: Path, configuration: Any = None) -> None:
        super().__init__("editor", "1")
        self.root = root
        self.diagnostics: dict[str, list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self.progress: list[Any] = []
        self.news = asyncio.Condition()
        self._versions: dict[str, int] = {}
        self.stop_at_first_progress = False

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def published(client: Editor, params: types.PublishDiagnosticsParams) -> None:
            async with self.news:
                self.diagnostics[params.uri] = list(params.diagnostics)
                self.news.notify_all()

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        async def shown(client: Editor, params: types.ShowMessageParams) -> None:
            async with self.news:
                self.messages.append(params.message)
                self.news.notify_all()

        @self.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def create(client: Editor, params: types.WorkDoneProgressCreateParams) -> None:
            return None

        @self.feature(types.PROGRESS)
        async def told(client: Editor, params: types.ProgressParams) -> None:
            if self.stop_at_first_progress:
                self.stop_at_first_progress = False
                self.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(params.token))
            async with self.news:
                self.progress.append(params.value)
                self.news.notify_all()

        @self.feature(types.WORKSPACE_CONFIGURATION)
        def configured(client: Editor, params: types.ConfigurationParams) -> list[Any]:
            assert [item.section for item in params.items] == ["d9mlint"]
            return [configuration]

    async def until(self, condition: Any) -> Any:
        """Waits until ``condition()`` holds, and returns it."""
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(condition), PATIENCE)
        return condition()

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str, text: str | None = None, language: str = "python") -> None:
        text = (self.root / name).read_text(encoding="utf-8") if text is None else text
        item = types.TextDocumentItem(self.uri(name), language, 1, text)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(self, name: str, text: str) -> None:
        version = self._versions[name] = self._versions.get(name, 1) + 1
        identity = types.VersionedTextDocumentIdentifier(version, self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(types.DidChangeTextDocumentParams(identity, [change]))

    def save(self, name: str, text: str | None = None) -> None:
        """Types a text, and saves it."""
        if text is not None:
            self.type(name, text)
            (self.root / name).write_text(text, encoding="utf-8")
        self.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(self.uri(name))))

    def close(self, name: str) -> None:
        self.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(self.uri(name))))

    async def found(self, name: str) -> list[types.Diagnostic]:
        """The next diagnostics of a file."""
        uri = self.uri(name)
        found = await self.until(lambda: [self.diagnostics[uri]] if uri in self.diagnostics else None)
        del self.diagnostics[uri]
        return list(found[0])

    async def actions(self, name: str, line: int, *only: str) -> dict[str, types.CodeAction]:
        """What can be done about a line (from 0), by title."""
        where = types.Range(types.Position(line, 0), types.Position(line, 200))
        context = types.CodeActionContext([], list(only) or None)
        params = types.CodeActionParams(types.TextDocumentIdentifier(self.uri(name)), where, context)
        found = await self.text_document_code_action_async(params)
        return {action.title: action for action in found or () if isinstance(action, types.CodeAction)}

    async def hover(self, name: str, line: int, column: int) -> str:
        where = types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), types.Position(line, column))
        found = await self.text_document_hover_async(where)
        return "" if found is None else found.contents.value

    def applied(self, action: types.CodeAction, name: str, text: str) -> str:
        """A text after the edits of an action."""
        assert action.edit is not None
        assert action.edit.changes is not None
        lines = text.splitlines(keepends=True)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        for edit in sorted(action.edit.changes[self.uri(name)], key=lambda one: -one.range.start.line):
            begin = starts[edit.range.start.line] + edit.range.start.character
            end = starts[min(edit.range.end.line, len(lines))] + edit.range.end.character
            text = text[:begin] + edit.new_text + text[end:]
        return text


@asynccontextmanager
async def editor(
    root: Path, options: Any = None, configuration: Any = None, encodings: tuple[str, ...] = ("utf-16",)
) -> AsyncIterator[Editor]:
    """An editor in a folder, with a server of its own."""
    client = Editor(root, configuration)
    await client.start_io(sys.executable, "-m", "d9mlint", "server")
    workspace = types.WorkspaceClientCapabilities(configuration=configuration is not None)
    window = types.WindowClientCapabilities(work_done_progress=True)
    general = types.GeneralClientCapabilities(position_encodings=[types.PositionEncodingKind(e) for e in encodings])
    capabilities = types.ClientCapabilities(workspace=workspace, window=window, general=general)
    folder = types.WorkspaceFolder(root.as_uri(), root.name)
    await client.initialize_async(
        types.InitializeParams(
            capabilities, root_uri=root.as_uri(), workspace_folders=[folder], initialization_options=options
        )
    )
    client.initialized(types.InitializedParams())
    try:
        yield client
    finally:
        await client.shutdown_async(None)
        client.exit(None)
        await asyncio.wait_for(client.stop(), PATIENCE)
