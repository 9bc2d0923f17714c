"""The files that a report is about, as patches see them, and what patches make of them.

Patches are made of Python: of a notebook, its code cells as one text, in which magics are lines that do nothing. What
they change there is changed in the cells, and the new notebook must read as the patched text.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from d9mlint import config as configuration
from d9mlint import fix
from d9mlint.app.cells import in_cell, in_text
from d9mlint.app.options import Options, start
from d9mlint.app.programs import given, tree
from d9mlint.configs.files import kind
from d9mlint.configs.judging import ENDINGS
from d9mlint.discover.percent import cell_lines, is_percent
from d9mlint.fix import making, names, notebooks, patches, remedies
from d9mlint.fix import tree as fix_tree
from d9mlint.fix.beside.launchers import Launcher
from d9mlint.model import Edit, Finding, Report
from d9mlint.python.source.notebooks import Cell, cells, idle, is_masked, repeats
from d9mlint.python.source.reading import NOTEBOOK, CannotRead, as_python, content_reader


class Sources(NamedTuple):
    """The contents of files as they are stored, and as patches see them."""

    stored: Mapping[str, bytes]
    files: patches.Files


def read(options: Options, found: Report, overlay: Mapping[str, bytes] = MappingProxyType({})) -> Sources:
    """The files of the report's findings and of their programs; ``overlay`` are contents that files would have."""
    cwd = Path.cwd()
    content = content_reader(tree(options, configuration.load(start(options.paths), options.config)), cwd)
    on_input = {**given(options, cwd), **overlay}
    stored: dict[str, bytes] = {}
    texts: dict[str, bytes] = {}
    refused: dict[str, str] = {}
    told = _paths(found)
    entries = {entry for one in found.findings for entry in one.entries}
    for path in told:
        try:
            data = on_input[path] if path in on_input else content(path)
            if data is None:
                raise CannotRead("it cannot be read")
            texts[path] = _text(path, data)
            stored[path] = data
            if path in entries and path.endswith(".py"):
                told += [one for one in _parsing(path, data, content) if one not in told]
        except (CannotRead, notebooks.CannotEdit) as error:
            refused[path] = str(error)
    table = {path: _cells(path, text) for path, text in texts.items()}
    return Sources(
        stored,
        patches.Files(
            texts, refused, table, found.targets, _launchers(found), _modules(stored.keys() - on_input.keys())
        ),
    )


def _parsing(entry: str, data: bytes, content: Callable[[str], bytes | None]) -> Iterator[str]:
    """The modules beside an entry, or below the working directory, that it imports and that parse a flag for a seed."""
    of = fix_tree.tree(data) if b"add_argument" not in data else None
    modules = {name.lstrip(".").rpartition(".")[0] for name in names.bound(of.module.body).values()} if of else ()
    for module in sorted(filter(None, modules)):
        beside = f"{module.replace('.', '/')}.py"
        for path in dict.fromkeys((posixpath.join(posixpath.dirname(entry), beside), beside)):
            try:
                text = content(path) or b""
            except CannotRead:
                continue
            if b"parse_args" in text and b"seed" in text.lower():
                yield path


def _launchers(found: Report) -> dict[str, list[Launcher]]:
    """By entry of a finding, the places that it is started from."""
    entries = {entry for one in found.findings for entry in one.entries}
    return {
        entry: [Launcher(kind(one.location.path), one.location) for one in launches]
        for entry, launches in found.launches.items() if entry in entries
    }  # fmt: skip


def _modules(paths: Iterable[str]) -> frozenset[str]:
    """The names of modules beside these files, and in the folders above them, but for packages that remedies name."""
    folders = {folder for path in paths for folder in Path(path).parents}
    found: set[str] = set()
    for folder in folders:
        with suppress(OSError):  # a folder above may not be ours to list
            found.update(one.stem for one in folder.iterdir() if one.suffix == ".py" or one.is_dir())
    return frozenset(found.difference(remedies.ROOTS.values()))


def _paths(found: Report) -> list[str]:
    edited = {edit.location.path for one in found.findings for cure in one.fixes for edit in cure.edits}
    told = {path for one in found.findings for path in (one.location.path, *one.entries)}
    told |= {other.location.path for one in found.findings for other in one.related}
    cures = {name for name, rule in found.rules.items() if rule.cure.keys() & {"setting", "key"}}
    beside = {one.location.path for one in found.findings if one.rule in cures}
    beside |= {other.location.path for one in found.findings for other in one.related if other.rule in cures}
    beside |= {one.location.path for starts in _launchers(found).values() for one in starts}
    return sorted(edited | beside | {path for path in told if fix.is_python(path)})


def _text(path: str, data: bytes) -> bytes:
    """A file as Python.

    Raises:
        CannotRead, CannotEdit: a notebook that cannot be read, or not be edited.
    """
    if not path.endswith(NOTEBOOK):
        return data
    text = idle(as_python(path, data).decode()).encode()
    notebooks.sources(data)
    if fix.encoding(text) != "utf-8":
        raise notebooks.CannotEdit("a cell declares another encoding than that of notebooks")
    return text


def _cells(path: str, text: bytes) -> list[tuple[int, int]]:
    if not path.endswith(NOTEBOOK):
        return cell_lines(text.decode("utf-8", "replace")) if is_percent(text) else []
    return [(cell.first, cell.last) for cell in cells(text.decode())]


# -- patches -------------------------------------------------------------------------------------------------------


def plan(before: Report, sources: Sources) -> patches.Plan:
    """What can be done about the findings of a report."""
    tables = _tables(sources, sources.files.texts)
    told = {in_text(found, tables): found for found in before.findings}
    made = patches.plan(told, before.rules, sources.files)
    without = [(told[found], reason) for found, reason in made.without]
    ways: dict[Finding, list[list[patches.Part]]] = {}
    for found, each in made.ways.items():
        for parts in each:
            if not any(_in_magic(edit, sources) for part in parts for edit in part.edits):
                ways.setdefault(told[found], []).append([part._replace(finding=told[found]) for part in parts])
        if told[found] not in ways:
            without.append((told[found], "it stands in a line of IPython"))
    return patches.Plan(ways, tuple(without))


def _in_magic(edit: Edit, sources: Sources) -> bool:
    at = edit.location
    if not at.path.endswith(NOTEBOOK):
        return False
    lines = sources.files.texts[at.path].decode().split("\n")
    return any(map(is_masked, lines[at.line - 1 : at.end_line]))


class Patched(NamedTuple):
    """New contents of files, those that an edit would break, and the parts that cannot be made, with the reasons."""

    sources: dict[str, bytes]
    refused: tuple[tuple[str, str], ...]
    unmade: tuple[tuple[patches.Part, str], ...]


def patched(parts: Sequence[patches.Part], sources: Sources, early: Sequence[str]) -> Patched:
    """The new contents of files with the edits of all parts."""
    made = making.edits(parts, sources.files, early)
    done = fix.apply_edits(made.edits, sources.files.texts)
    out: dict[str, bytes] = {}
    refused = list(done.refused)
    for path, text in done.sources.items():
        try:
            if path.endswith(ENDINGS):
                _read_again(path, text)
            out[path] = _notebook(path, sources, done.edits[path], text) if path.endswith(NOTEBOOK) else text
        except (CannotRead, notebooks.CannotEdit) as error:
            refused.append((path, str(error)))
    return Patched(out, tuple(sorted(refused)), made.left)


def alone(parts: Sequence[patches.Part], sources: Sources, early: Sequence[str]) -> tuple[Edit, ...]:
    """The edits of one finding's parts, without those of others; in notebooks those of their cells."""
    made = making.edits(parts, sources.files, early).edits
    tables = _tables(sources, {edit.location.path for edit in made})
    return tuple(in_cell(edit, tables.get(edit.location.path, ())) for edit in made)


def _read_again(path: str, data: bytes) -> None:
    """Raises CannotRead where a config file cannot be read any more, of which a check says nothing."""
    from d9mlint.configs.documents import NotReadable, read
    from d9mlint.configs.files import text_of

    try:
        read(text_of(data), path)
    except NotReadable:
        raise CannotRead("its fixes would break it") from None


def _notebook(path: str, sources: Sources, edits: Sequence[Edit], text: bytes) -> bytes:
    """The notebook whose code cells read as ``text``, which is what ``edits`` make of them."""
    table = _tables(sources, [path])[path]
    lines = sources.files.texts[path].decode().split("\n")
    for edit in edits:
        if "\n" in edit.text and (magic := repeats(lines, table, edit.location.line)):
            raise notebooks.CannotEdit(f"statements would stand under `{magic}`")
    data = notebooks.edited(sources.stored[path], [in_cell(edit, table) for edit in edits])
    if _said(idle(as_python(path, data).decode())) != _said(text.decode()):
        raise notebooks.CannotEdit("its cells would not read as meant")
    return data


def _said(text: str) -> list[str]:
    """The lines of the cells that are not blank."""
    return [line for line in text.rstrip("\n").split("\n")[:-1] if line.strip()]


def _tables(sources: Sources, paths: Iterable[str]) -> dict[str, tuple[Cell, ...]]:
    """The cells of the notebooks among these files."""
    return {path: cells(sources.files.texts[path].decode()) for path in paths if path.endswith(NOTEBOOK)}
