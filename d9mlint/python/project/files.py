"""The files of a program: where an import leads, and the facts of each file, read once.

Linting reads untrusted code: nothing is imported or executed.
"""

from __future__ import annotations

from d9mlint.cache import Store, code_hash, content_hash
from d9mlint.python.project import checkouts
from d9mlint.python.project.importlines import ImportLine, import_lines
from d9mlint.python.source import facts as f
from d9mlint.python.source import queries
from d9mlint.python.source.filenames import LANDMARK, belongs_to, join
from d9mlint.python.source.parsing import check, parse
from d9mlint.python.source.reading import CannotRead, Reader


class Project:
    """The reader, and the facts of every file asked for so far; ``store`` holds those of earlier runs.

    ``quiet`` are files that hold and import nothing which a rule is about.
    """

    def __init__(self, reader: Reader, store: Store | None = None, quiet: frozenset[str] = frozenset()) -> None:
        self.quiet = quiet
        self._reader = reader
        self._store = store
        self._code = code_hash(("python/source",)) if store is not None else ""
        self._facts: dict[str, f.Facts | CannotRead | None] = {}
        self._unreadable: dict[str, str] = {}
        self._words: dict[int, frozenset[str]] = {}  # facts live as long as the project, so ids do
        self._reads: dict[int, frozenset[str]] = {}  # facts live as long as the project, so ids do
        self._counted: dict[int, frozenset[str]] = {}  # facts live as long as the project, so ids do
        self._named: dict[int | str, tuple[frozenset[str], dict[str, f.Attr | f.Sub]]] = {}
        self._tallied: dict[str, frozenset[str]] = {}
        self._functions: dict[str, tuple[f.Def, ...]] = {}
        self.sources: dict[str, bytes] = {}
        self.looked_up: dict[str, bool] = {}
        self._bases: dict[tuple[str, ...], dict[str, tuple[str | None, set[str]]]] = {}
        self._homes: dict[tuple[str, tuple[str, ...], str], tuple[str | None, set[str]]] = {}
        self._outside: dict[tuple[str, tuple[str, ...], str], tuple[str | None, set[str]]] = {}
        self._import_lines: dict[str, list[ImportLine]] = {}
        self.asked: set[str] = set()
        """Paths asked for, there or not, since somebody last cleared it: what a cached result rests on."""

    def data(self, path: str) -> bytes | None:
        """The bytes of a file, read once; None where there is none."""
        self.asked.add(path)
        if path in self.sources:
            return self.sources[path]
        if self.looked_up.get(path) is False:
            return None
        data = self._reader(path)
        self.looked_up[path] = data is not None
        if data is not None:
            self.sources[path] = data
        return data

    def peek(self, path: str) -> bytes | None:
        """The same; None also where the file cannot be read."""
        try:
            return self.data(path)
        except CannotRead:
            return None

    def exists(self, path: str) -> bool:
        """Whether the file is there (and can be read)."""
        try:
            return self.data(path) is not None
        except CannotRead:
            return True

    def facts(self, path: str) -> f.Facts | None:
        """The facts of a file; None where there is no such file.

        Raises:
            CannotRead: each time the file is asked for.
        """
        self.asked.add(path)
        if path not in self._facts:
            try:
                data = self.data(path)
                self._facts[path] = None if data is None else self._parse(data, path)
            except CannotRead as error:
                self._facts[path] = CannotRead(*error.args)
        found = self._facts[path]
        if isinstance(found, CannotRead):
            raise CannotRead(*found.args)  # one that is raised keeps the frames that it went through
        return found

    def _parse(self, data: bytes, path: str) -> f.Facts:
        if self._store is None:
            return parse(data, path)
        key = content_hash(b"%s\0%s\0%s" % (self._code.encode(), path.encode("utf-8", "surrogateescape"), data))
        found = self._store.load(key, f.Facts)
        if found is None:
            found = parse(data, path)
            self._store.save(key, found)
        return found

    def unreadable(self, path: str) -> str:
        """Why a file cannot be read; empty where it can (or where there is none). No facts are made."""
        self.asked.add(path)
        if path not in self._unreadable:
            self._unreadable[path] = ""
            try:
                check(self.data(path) or b"", path)
            except CannotRead as error:
                self._unreadable[path] = str(error)
        return self._unreadable[path]

    def words(self, node: f.Facts | f.Stmt | f.Lambda) -> frozenset[str]:
        """All names, attributes and texts in a file, statement or lambda expression."""
        if id(node) not in self._words:
            self._words[id(node)] = queries.words(node)
        return self._words[id(node)]

    def functions(self, path: str) -> tuple[f.Def, ...]:
        """All functions and methods of a file, those inside others too.

        Raises:
            CannotRead: as `facts`.
        """
        if path not in self._functions:
            facts = self.facts(path)
            self._functions[path] = () if facts is None else tuple(queries.functions(facts.body))
        return self._functions[path]

    def reads(self, node: f.Facts | f.Stmt | f.Lambda) -> frozenset[str]:
        """All names in a file, statement or lambda expression but those that are only assigned to."""
        if id(node) not in self._reads:
            self._reads[id(node)] = queries.reads(node)
        return self._reads[id(node)]

    def counted(self, loop: f.For | f.While) -> frozenset[str]:
        """The plain names that the turns of a loop change by what they were."""
        if id(loop) not in self._counted:
            self._counted[id(loop)] = queries.counted(loop.body)
        return self._counted[id(loop)]

    def computed(self, node: f.Def | None, path: str) -> frozenset[str]:
        """The plain names that a function, or the file itself, gives nothing but numbers and collections of data."""
        return self._names(node, path)[0]

    def taken(self, node: f.Def | None, path: str) -> dict[str, f.Attr | f.Sub]:
        """The plain names that stand for one attribute or item there, and for nothing else."""
        return self._names(node, path)[1]

    def _names(self, node: f.Def | None, path: str) -> tuple[frozenset[str], dict[str, f.Attr | f.Sub]]:
        key = id(node) if node is not None else path
        if key not in self._named:
            try:
                facts = node if node is not None else self.facts(path)
            except CannotRead:
                facts = None
            self._named[key] = (queries.computed(facts), queries.taken(facts)) if facts else (frozenset(), {})
        return self._named[key]

    def tallied(self, path: str) -> frozenset[str]:
        """The names of attributes that a file counts on; none where it cannot be read."""
        if path not in self._tallied:
            try:
                facts = self.facts(path)
            except CannotRead:
                facts = None
            self._tallied[path] = frozenset() if facts is None else queries.tallied(facts.body)
        return self._tallied[path]

    def base_of(self, dotted: str, roots: tuple[str, ...], importer: str) -> str | None:
        """Where ``import dotted`` in a file leads: a path without an ending; None where no root has such a module."""
        roots = self._roots_for(dotted.partition(".")[0], roots, importer)
        known = self._bases.setdefault(roots, {})
        if dotted not in known:
            before, self.asked = self.asked, set()
            bases = (join(root, dotted.replace(".", "/")) for root in roots)
            known[dotted] = next((base for base in bases if self.module_at(base) is not None), None), self.asked
            self.asked = before
        base, asked = known[dotted]
        self.asked |= asked
        if base is not None:
            return base
        package, _, inside = dotted.partition(".")
        if not inside:
            return self._home(package, roots, importer)
        key = (dotted, roots, importer)
        if key not in self._outside:
            before, self.asked = self.asked, set()
            self._outside[key] = self._in_checkout(package, inside, roots, importer), self.asked
            self.asked = before
        base, asked = self._outside[key]
        self.asked |= asked
        return base

    def _in_checkout(self, package: str, inside: str, roots: tuple[str, ...], importer: str) -> str | None:
        """The same where the package is the folder that holds the program, under a name of its own.

        Or where that folder and a package in it share the name: `rlax.examples` may be the folder beside `rlax/`.
        """
        first = inside.partition(".")[0]
        if all(self.module_at(join(root, first)) is None and not self.names_in(join(root, first)) for root in roots):
            return None
        own = next((root for root in roots if self.module_at(join(root, package)) is not None), None)
        root = self._home(package, roots, importer) if own is None else own
        base = None if root is None else join(root, inside.replace(".", "/"))
        return base if base is not None and self.module_at(base) is not None else None

    def _home(self, package: str, roots: tuple[str, ...], importer: str) -> str | None:
        """The root that is itself the package which a file imports from; None where there is none."""
        key = (package, roots, importer)
        if key not in self._homes:
            before, self.asked = self.asked, set()
            lines = self._imports_of(importer)
            self._homes[key] = checkouts.home(package, roots, importer, lines, self.peek), self.asked
            self.asked = before
        root, asked = self._homes[key]
        self.asked |= asked
        return root

    def _imports_of(self, path: str) -> list[ImportLine]:
        text = self.peek(path)
        if path not in self._import_lines:
            self._import_lines[path] = list(import_lines(text or b""))
        return self._import_lines[path]

    def _roots_for(self, package: str, roots: tuple[str, ...], importer: str) -> tuple[str, ...]:
        """The roots at which a package of the program may lie.

        What the standard library does is known without its sources: below its home only the package that the
        importing file is part of belongs to the program.
        """
        homes = [root for root in roots if self.exists(join(root, LANDMARK))]
        return tuple(root for root in roots if root not in homes or belongs_to(package, root, importer))

    def names_in(self, folder: str) -> list[str]:
        """The names of what may be modules and packages in a folder, sorted."""
        try:
            data = self.data(f"{folder or '.'}/")
        except CannotRead:
            return []
        return (data or b"").decode("utf-8", "surrogateescape").split("\n")

    def module_at(self, base: str) -> str | None:
        """The file of the package or module whose path without an ending is ``base``."""
        return next((path for path in (join(base, "__init__.py"), base + ".py") if self.exists(path)), None)
