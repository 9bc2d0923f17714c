"""The protocol: what a client says, and what is done about it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from d9mlint import __version__
from d9mlint.model import D9mlintError
from d9mlint.server import actions, hovers, judging
from d9mlint.server.desk import Desk
from d9mlint.server.settings import ON_TYPE

_TYPING = 0.5
"""Seconds without a key after which a text counts as typed."""
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage(language="python")]
        )
    ],
    save=True,
)


class Server(LanguageServer):
    """The server and its desk."""

    def __init__(self) -> None:
        super().__init__("d9mlint", __version__, notebook_document_sync=_NOTEBOOKS)
        self.desk = Desk(self)


def serve() -> None:
    """Speaks the language server protocol on standard input and output until the client ends it."""
    server().start_io()


def server() -> Server:
    """A server with all that it answers to."""
    made = Server()
    for register in (_life, _documents, _notebooks, _questions):
        register(made)
    return made


def _life(made: Server) -> None:
    @made.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        folders = [judging.path_of(one.uri) for one in ls.workspace.folders.values()]
        root = Path(ls.workspace.root_path) if ls.workspace.root_path else None
        for path in (root, *folders):
            if path is not None and path.is_dir():
                os.chdir(path)  # reports tell paths relative to it
                break
        ls.desk.configure(params.initialization_options)

    @made.feature(types.INITIALIZED)
    async def initialized(ls: Server, _: types.InitializedParams) -> None:
        if await ls.desk.configuration():
            ls.desk.checks.request()

    @made.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(ls: Server, params: types.DidChangeConfigurationParams) -> None:
        if params.settings:
            ls.desk.configure(params.settings)
        await ls.desk.configuration()
        ls.desk.checks.request()

    @made.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(ls: Server, _: types.DidChangeWatchedFilesParams) -> None:
        ls.desk.checks.request()

    @made.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(ls: Server, _: types.DidChangeWorkspaceFoldersParams) -> None:
        ls.desk.checks.request()

    @made.feature(types.SHUTDOWN)
    def shutdown(ls: Server, _: None) -> None:
        ls.desk.checks.close()


def _documents(made: Server) -> None:
    @made.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        path = judging.path_of(document.uri)
        if path is not None and judging.stored(path) != document.text:
            ls.desk.changed(document.uri)
        ls.desk.checks.request()

    @made.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        ls.desk.changed(params.text_document.uri)
        if ls.desk.settings.run == ON_TYPE:
            ls.desk.checks.request(_TYPING)

    @made.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        ls.desk.saved(params.text_document.uri)
        ls.desk.checks.request()

    @made.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        ls.desk.saved(params.text_document.uri)
        ls.desk.checks.request()


def _notebooks(made: Server) -> None:
    """Notebooks are judged as they are on disk: when they are opened and saved."""

    @made.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(ls: Server, _: types.DidOpenNotebookDocumentParams) -> None:
        ls.desk.checks.request()

    @made.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(ls: Server, _: types.DidSaveNotebookDocumentParams) -> None:
        ls.desk.checks.request()

    @made.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, _: types.DidCloseNotebookDocumentParams) -> None:
        ls.desk.checks.request()


def _questions(made: Server) -> None:
    @made.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        document = ls.workspace.get_text_document(params.text_document.uri)
        place = document.position_codec.position_from_client_units(document.lines, params.position)
        where = types.Range(params.position, params.position)
        findings = ls.desk.findings(document.uri, where, ls.desk.places(ls.desk.lines()))
        page = hovers.page((one for _, one in findings), document.source, place.line, place.character)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, page)) if page else None

    @made.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, actions.FIX_ALL], resolve_provider=True),
    )
    def offered(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        lines = ls.desk.lines()
        places, uri = ls.desk.places(lines), params.text_document.uri
        only = params.context.only or [types.CodeActionKind.QuickFix, actions.FIX_ALL]
        found: list[types.CodeAction] = []
        if any(types.CodeActionKind.QuickFix.startswith(kind) for kind in only):
            for run, one in ls.desk.findings(uri, params.range, places):
                found += actions.quick_fixes(one, run.report, places, lines)
        if any(actions.FIX_ALL.startswith(kind) for kind in only):
            found += [
                action for run in ls.desk.runs if (action := actions.fix_all(run.report, uri, places)) is not None
            ]
        return found

    @made.feature(types.CODE_ACTION_RESOLVE)
    async def resolved(ls: Server, action: types.CodeAction) -> types.CodeAction:
        data = action.data or {}
        wanted = frozenset(data.get("fingerprints", ()))
        run = ls.desk.run_of(wanted)
        if action.edit is not None or run is None:
            return action
        overlay = judging.contents(ls.desk.opened())
        cure = partial(judging.cured, run._replace(overlay=overlay), wanted, bool(data.get("unsafe")))
        try:
            before, after, reasons = await ls.desk.checks.work(cure)
        except D9mlintError as error:
            ls.desk.failed(str(error))
            return action
        if not after:
            message = f"d9mlint: nothing was changed: {reasons or 'no patch is known'}"
            ls.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))
        action.edit = actions.between(before, after, ls.desk.places(ls.desk.lines()))
        return action
