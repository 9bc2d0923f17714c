"""What an editor has open, and what it was told about it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from d9mlint.model import Finding, Location, UsageError
from d9mlint.server import diagnostics
from d9mlint.server.checks import Checks
from d9mlint.server.diagnostics import Lines, Places
from d9mlint.server.judging import Open, Run, absolute, path_of
from d9mlint.server.progress import Progress
from d9mlint.server.settings import SECTION, Settings, settings

_NOTEBOOK = ".ipynb"


class Desk:
    """The state of a server: settings, the files that are open, and the last runs about them."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._unsaved: set[str] = set()
        self._published: frozenset[str] = frozenset()
        self._failure = ""
        self.runs: tuple[Run, ...] = ()
        self.checks = Checks(self)
        self.progress = Progress(server, self.checks.stop)
        self.settings = Settings()

    # -- what is open ----------------------------------------------------------------------------------------------

    def configure(self, given: object) -> None:
        """Takes what a client has set; what cannot be understood is told, and changes nothing."""
        try:
            self.settings = settings(given, Path.cwd())
        except UsageError as error:
            self.failed(str(error))

    async def configuration(self) -> bool:
        """Asks the client for its configuration, where it answers such questions; tells whether it has set any."""
        workspace = self._server.client_capabilities.workspace
        if workspace is not None and workspace.configuration:
            item = types.ConfigurationItem(section=SECTION)
            found = await self._server.workspace_configuration_async(types.ConfigurationParams([item]))
            if found and found[0] is not None:
                self.configure(found[0])
                return True
        return False

    def changed(self, uri: str) -> None:
        """A buffer is no longer what is on disk."""
        self._unsaved.add(uri)

    def saved(self, uri: str) -> None:
        """A buffer is what is on disk, or is closed."""
        self._unsaved.discard(uri)

    def opened(self) -> Open:
        """What is to be judged now."""
        workspace = self._server.workspace
        folders = {path for one in workspace.folders.values() if (path := path_of(one.uri)) is not None}
        if not folders and workspace.root_path:
            folders = {Path(os.path.normpath(workspace.root_path))}
        texts = {
            path: document for uri, document in workspace.text_documents.items() if (path := path_of(uri)) is not None
        }
        notebooks = {path for uri in workspace.notebook_documents if (path := path_of(uri)) is not None}
        buffers = {path: document.source for path, document in texts.items() if document.uri in self._unsaved}
        return Open(tuple(sorted(folders)), tuple(sorted({*texts, *notebooks})), buffers, self.settings)

    # -- what is found ---------------------------------------------------------------------------------------------

    def progressed(self, done: int, total: int, name: str) -> None:
        """How far a run is."""
        self.progress.told(done, total, name)

    def judged(self, now: Open, runs: tuple[Run, ...]) -> None:
        """Publishes what runs have found, and takes back what they no longer do."""
        self.runs, self._failure = runs, ""
        found = diagnostics.of_runs(runs, self.places(diagnostics.lines_of(now.buffers)))
        judged = {self._uri(Location(str(path), 1, 1, 1, 1)) for path in now.files}
        for uri in sorted({*found, *judged, *self._published}):
            params = types.PublishDiagnosticsParams(uri, found.get(uri, []))
            self._server.text_document_publish_diagnostics(params)
        self._published = frozenset(found)

    def failed(self, message: str) -> None:
        """Shows why there is nothing to show, once."""
        if message != self._failure:
            self._failure = message
            self._server.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"d9mlint: {message}"))

    def ended(self) -> None:
        """A run has ended."""
        self.progress.ended()

    # -- what is asked about it ------------------------------------------------------------------------------------

    def lines(self) -> Lines:
        """The lines of files as they are in the editor."""
        return diagnostics.lines_of(self.opened().buffers)

    def places(self, lines: Lines) -> Places:
        """What the client calls places."""
        return Places(self._server.workspace.position_codec, self._uri, lines)

    def findings(self, uri: str, where: types.Range, places: Places) -> Iterable[tuple[Run, Finding]]:
        """The findings that touch a range of a document."""
        for run in self.runs:
            for one in run.report.findings:
                if places.uri(one.location) == uri and _touch(places.range(one.location), where):
                    yield run, one

    def run_of(self, fingerprints: Iterable[str]) -> Run | None:
        """The run that has found these."""
        wanted = set(fingerprints)
        return next((run for run in self.runs if wanted & {one.fingerprint for one in run.report.findings}), None)

    def _uri(self, at: Location) -> str:
        """The document of a place: a file as the client has spelled it, or a cell of a notebook that is open."""
        path = absolute(at.path)
        if path.suffix == _NOTEBOOK and at.cell:
            for uri, notebook in self._server.workspace.notebook_documents.items():
                if path_of(uri) == path and at.cell <= len(notebook.cells):
                    return str(notebook.cells[at.cell - 1].document)
        for uri in self._server.workspace.text_documents:
            if path_of(uri) == path:
                return str(uri)
        return uris.from_fs_path(str(path)) or path.as_uri()


def _touch(one: types.Range, other: types.Range) -> bool:
    def key(at: types.Position) -> tuple[int, int]:
        return at.line, at.character

    return key(one.start) <= key(other.end) and key(other.start) <= key(one.end)
