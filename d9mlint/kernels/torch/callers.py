"""Who mentions a block, across the files of a repository: the way up from a kernel to what Python can call."""

from __future__ import annotations

import re

from d9mlint.kernels.sites.wrappers import arity
from d9mlint.kernels.source.repository import Repository, folders_above, nearer, shared_folders
from d9mlint.kernels.source.unit import classes
from d9mlint.kernels.torch import pasted
from d9mlint.kernels.torch.bindings import Binding, bindings
from d9mlint.kernels.torch.blocks import HEADERS, Block, Blocks, blocks
from d9mlint.kernels.torch.builds import libraries
from d9mlint.kernels.torch.calls import handing, inherited, members, naming, virtual
from d9mlint.kernels.torch.calls.arity import fits
from d9mlint.kernels.torch.calls.impossible import impossible
from d9mlint.kernels.torch.calls.standing import MAX_BEFORE, Standing, reaches, standing
from d9mlint.kernels.torch.exports import EXPORTING

_ARGUMENTS = rb"<[^<>;{}]*(?:<[^<>;{}]*(?:<[^<>;{}]*>[^<>;{}]*)*>[^<>;{}]*)*>"
_MEMBER = re.compile(rb"\s*(?:" + _ARGUMENTS + rb"\s*)?::\s*(?:template\s+)?(\w+)")
_LAUNCH = re.compile(rb"\s*(?:" + _ARGUMENTS + rb"\s*)?<<<")
_ADDRESS = re.compile(rb"&\s*(?:\w+\s*::\s*)*\Z")
_IN_TABLE = re.compile(rb'\{\s*"[^"\n]*"\s*,\s*(?:\w+\s*::\s*)*\Z')
"""An entry of a table: ``{"name", function}``."""
_HANDED_TO = re.compile(rb"\b(\w+)\s*<\s*(?:\w+\s*::\s*)*\Z")
"""Before the first argument of a template."""
_MAX_TEMPLATES = 8
_REGISTRARS = (b"Library", b"module", b"module_")
_IN_MACRO = re.compile(rb"\b[A-Z][A-Z0-9_]{3,}\s*\(\s*(?:\w+\s*::\s*)*\Z")
"""Before the first argument of a macro."""
_REGISTERING = ("library", "operators", "function", "export", "macro")
_TEST_FOLDERS = frozenset(("test", "tests", "bench", "benchmark", "benchmarks"))
_REGISTERS = re.compile(
    rb"PYBIND|NB_MODULE|TORCH_LIBRARY|TORCH_MODULE|\.\s*(?:def|impl|op)\s*\(|RegisterOperators|extern \"C\"|"
    + EXPORTING.pattern
)
_MAX_CALLERS = 400
"""A name that more blocks mention is no name of one kernel."""


class Callers:
    """Answers who mentions a block; each file is split once, each question is asked once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.barren: set[Block] = set()
        """Blocks from which no way leads to anything that is registered; whole walks have found that."""
        self._blocks: dict[str, Blocks] = {}
        self._files: dict[bytes, list[str]] = {}
        self._callers: dict[Block, list[tuple[Block, tuple[int, ...]]]] = {}
        self._bindings: dict[Block, list[Binding]] = {}
        self._operators: dict[str, Block] = {}
        self._templates: dict[bytes, frozenset[bytes] | None] = {}
        self._standing: dict[tuple[str, int], Standing] = {}

    def blocks(self, path: str) -> Blocks:
        """The blocks of a source; none where it cannot be parsed."""
        if path not in self._blocks:
            unit = self.repository.unit(path)
            libraries = self.repository.derived(pasted.registering, "") if unit is not None else {}
            self._blocks[path] = blocks(unit, libraries) if unit is not None else Blocks(())
        return self._blocks[path]

    def callers(self, block: Block) -> list[tuple[Block, tuple[int, ...]]]:
        """The blocks that mention a block, each with the places; the nearest files first."""
        if block not in self._callers:
            self._callers[block] = self._find(block)
        return self._callers[block]

    def bindings(self, block: Block) -> list[Binding]:
        """The registrations in a block."""
        if block not in self._bindings:
            self._bindings[block] = bindings(block) if block.kind in _REGISTERING else []
        return self._bindings[block]

    def binding(self, block: Block, place: int) -> Binding | None:
        """The registration whose arguments hold a place; the last that begins before it, where one seems to go on."""
        return next((b for b in reversed(self.bindings(block)) if b.start <= place < b.end), None)

    def operator(self, name: str, at: Block) -> Block:
        """The operator of the dispatcher of that name, as a block that other code mentions by this name."""
        if name not in self._operators:
            self._operators[name] = Block(at.unit, "op", name, at.start, at.end, {})
        return self._operators[name]

    def autograd(self, block: Block) -> str:
        """``forward`` or ``backward`` for those methods of a C++ ``torch::autograd::Function``; else empty."""
        if not block.scope or block.name not in ("forward", "backward"):
            return ""
        name = re.escape(block.scope.encode())
        head = rb"\b(?:class|struct)\s+" + name + rb"\s*(?:final\s*)?:[^{;]{0,300}\bFunction\s*<"
        return block.name if re.search(head, block.unit.data) else ""

    def is_launch(self, other: Block, block: Block, place: int) -> bool:
        """Whether the kernel named there is launched, not only handed to something (``&kernel``, its occupancy)."""
        return _LAUNCH.match(other.unit.data, place + len(block.name), place + len(block.name) + 400) is not None

    def _find(self, block: Block) -> list[tuple[Block, tuple[int, ...]]]:
        word = (block.scope or block.name).encode()
        home = block.unit.path
        if not word or (len(word) < 2 and not block.internal) or word == b"main":
            return []
        found = self._in_files([home] if block.internal else self._visible(block, word), block, word)
        if block.internal and _is_kernel(block) and all(other.kind != "function" for other, _ in found):
            # A kernel that its file only defines (and instantiates): another one declares and launches it.
            found += self._in_files([p for p in self._visible(block, word) if p != home], block, word)
        if block.kind == "function":
            found = self._in_namespaces(found, block, word)
        found += [*self._renamed(block), *self._inherited(block)] if block.scope else []
        if block.scope and not any(other.scope != block.scope for other, _ in found):
            found += members.elsewhere(self.repository, block, block.scope, self.blocks)
        named = virtual.bases(block, self.repository)
        if named:
            calls = [*virtual.calls(block, named, self._of_any(block, named))]
            for base in sorted(named):
                calls += members.elsewhere(self.repository, block, base.decode(), self.blocks)
            # Who only makes an object of the class leaves the calls to those who know its base.
            found = [one for one in found if _calls_itself(block, one[0])]
            known, homes = {other for other, _ in found}, self._homes(named)
            found += [one for one in calls if one[0] not in known and naming.nearest_class(one[0], block, homes)]
        if len(found) > _MAX_CALLERS:
            return []
        # The nearest first; else by file and place.
        found.sort(key=lambda caller: -shared_folders(caller[0].unit.path, home))
        return found

    def _renamed(self, block: Block) -> list[tuple[Block, tuple[int, ...]]]:
        """The blocks that name a method by another name of its class: ``&Table::insert``."""
        found = []
        for alias in sorted(self.repository.derived(naming.other_names, block.scope)):
            member = re.compile(rb"\b" + alias + rb"\s*::\s*" + re.escape(block.name.encode()) + rb"\b")
            for path in self._visible(block, alias):
                for other in self.blocks(path).mentioning(alias):
                    places = tuple(p for p in other.words[alias] if member.match(other.unit.data, p))
                    found += [(other, places)] if places else []
        return found

    def _inherited(self, block: Block) -> list[tuple[Block, tuple[int, ...]]]:
        """The methods of heirs of its class that call a method on their own object, and have none of its name."""
        classes = inherited.heirs(self.repository, block.scope)
        others = self._of_any(block, classes) if classes else []
        return list(inherited.calls(block, classes, others, self.blocks))

    def _of_any(self, block: Block, named: frozenset[bytes]) -> list[Block]:
        """The blocks that mention the name of a method, in the files that name one of these classes, too."""
        method = block.name.encode()
        files = {path for name in named for path in self.repository.holding(name)}
        files -= self.repository.derived(_tests, "")
        paths = [path for path in self.repository.holding(method) if path in files]
        return [other for path in paths for other in self.blocks(path).mentioning(method)]

    def _in_namespaces(
        self, found: list[tuple[Block, tuple[int, ...]]], block: Block, word: bytes
    ) -> list[tuple[Block, tuple[int, ...]]]:
        """The places that mean this function (or class) and none of its name in another namespace."""
        rivals = [
            b
            for p in self._files.get(word, ())
            for b in self.blocks(p).blocks
            if b.kind == "function" and (b.scope or b.name) == (block.scope or block.name)
        ] if found else []  # fmt: skip
        if block.scope and len({naming.around(b) for b in rivals}) < 2:
            return found
        here = block.scope.encode()
        kept = []
        for other, at in found:
            seen = [b for b in rivals if not b.internal or b.unit.path == other.unit.path]
            kept.append(
                (other, tuple(p for p in at if not _named(other, here, p) or naming.meant(other, block, p, seen)))
            )
        return [(other, at) for other, at in kept if at]

    def _homes(self, classes: frozenset[bytes]) -> set[tuple[str, ...]]:
        """The namespaces that have classes of these names."""
        paths = {path for name in classes for path in self.repository.holding(name)}
        every = (block for path in sorted(paths) for block in self.blocks(path).blocks)
        return {naming.around(block) for block in every if block.scope and block.scope.encode() in classes}

    def _in_files(self, paths: list[str], block: Block, word: bytes) -> list[tuple[Block, tuple[int, ...]]]:
        found: list[tuple[Block, tuple[int, ...]]] = []
        for path in paths:
            names = (word, block.name.encode()) if block.scope else (word,)
            for other in self.blocks(path).mentioning(*names):
                places = self._mentions(other, block, word) if other is not block else ()
                if places:
                    found.append((other, places))
        return found

    def _left_alone(self, other: Block, block: Block, place: int) -> bool:
        """Whether the class of a method is handed to a template of a function that never names the method.

        ``add<MyCreator>(registry)`` puts an object into a registry; its ``create`` is called from elsewhere.
        """
        if not block.scope or other.kind == "export" or block.name.encode() in other.words:
            return False
        if block.name == block.scope or block.name.startswith(("operator", "~")) or self.autograd(block):
            return False
        handed = _HANDED_TO.search(other.unit.data, max(0, place - MAX_BEFORE), place)
        words = self._words_of_template(handed[1]) if handed is not None else None
        return words is not None and block.name.encode() not in words

    def _words_of_template(self, name: bytes) -> frozenset[bytes] | None:
        """The words in the functions of a name and in those they hand their class to; None where one is not known."""
        if name not in self._templates:
            self._templates[name] = None  # one that hands on to itself
            found = [
                b
                for path in self.repository.holding(name)
                for b in self.blocks(path).blocks
                if b.kind == "function" and b.name.encode() == name
            ]
            further = [self._words_of_template(n) for n in sorted({n for b in found for n in handing.of_class(b)})]
            if found and len(found) <= _MAX_TEMPLATES and None not in further:
                own = frozenset(word for b in found for word in b.words)
                further += map(self._words_of_template, sorted({n for b in found for n in handing.of_object(b)}))
                self._templates[name] = own.union(*(words for words in further if words is not None))
        return self._templates[name]

    def _only_method(self, block: Block) -> bool:
        """Whether no other class of its file has a method of that name, which is more than a common word."""
        owners = [names for names in self.blocks(block.unit.path).defined.values() if block.name in names]
        return len(owners) == 1 and len(block.name) > 3 and block.name.isidentifier()

    def _visible(self, block: Block, word: bytes) -> list[str]:
        """The files in which the word means this block, not a nearer definition of the same name."""
        if word not in self._files:
            tests = self.repository.derived(_tests, "")
            self._files[word] = [p for p in self.repository.holding(word) if p not in tests]
        files = self._files[word]
        if word not in self.repository.data(block.unit.path):  # a macro pastes it together
            files = [*files, block.unit.path]
        if block.kind in ("register", "op"):
            return files
        home = block.unit.path
        if home.endswith(HEADERS) and block.function is not None and "__device__" in block.function.qualifier:
            seeing = self.repository.users(home)  # what runs on the device only has to be seen to be called
            files = [p for p in files if p in seeing]
        owners = [p for p in files if p != home and word in self.blocks(p).defined]
        if block.scope and owners and not _defines_class(self.repository.data(home), word):
            own = self.repository.reachable(home)  # the class itself, whose method this source defines, is no rival
            owners = [p for p in owners if p not in own and _defines_class(self.repository.data(p), word)]
        owners = [p for p in owners if not self._overloads(p, block) and not self._qualifies(p, block)]
        if not owners:
            return files
        apart = set(owners)
        folders = {folder for p in owners for folder in folders_above(p)}
        near = [p for p in files if p == home or (p not in apart and not nearer(p, folders, home))]
        return [p for p in near if p == home or not libraries.of_another(p, home, owners, word, self.repository)]

    def _overloads(self, path: str, block: Block) -> bool:
        """Whether a file that sees a free function defines others of its name, with another number of arguments."""
        if block.scope or block.function is None or path not in self.repository.users(block.unit.path):
            return False
        low, high = arity(block.function.node)
        others = [b for b in self.blocks(path).blocks if b.name == block.name and b.kind == "function" and not b.scope]
        taken = [arity(b.function.node) for b in others if b.function is not None]
        return bool(taken) and all(most < low or least > high for least, most in taken)

    def _qualifies(self, path: str, block: Block) -> bool:
        """Whether a file that defines a function of this name names that of another namespace: ``kernel::f(x)``."""
        own = naming.around(block)
        if block.scope or block.kind != "function" or not own:
            return False
        namesakes = (b for b in self.blocks(path).blocks if b.name == block.name)
        if any(naming.around(b) == own or naming.lost(b, own[-1]) for b in namesakes):
            return False
        named = re.compile(rb"\b" + own[-1].encode() + rb"\s*::\s*" + re.escape(block.name.encode()) + rb"\s*[(<]")
        return named.search(self.repository.data(path)) is not None

    def _mentions(self, other: Block, block: Block, word: bytes) -> tuple[int, ...]:
        places = other.words.get(word, ())
        if block.kind == "macro" and block.unit.path == other.unit.path:
            places = tuple(p for p in places if not _made_anew(block, p))
        if block.kind == "op":
            return places if other.kind != "library" else ()
        if block.kind == "register" and other.kind == "register":
            return ()
        if block.scope and (other.unit.path == block.unit.path or naming.same_class(other, block)):
            member = other.words.get(block.name.encode(), ())
            only = self._only_method(block)
            inner = other.scope == block.scope or _within(other, block.scope)
            own = {p for p in member if inner or (only and _through(other, p))}
            own.update(p for p in member if p not in own and members.calls(self.repository, other, block.scope, p))
            places = (*places, *sorted(own))
        methods: frozenset[str] = frozenset()
        if block.scope and not self.autograd(block):  # `apply`, or a helper of the class, calls forward and backward
            methods = self.blocks(block.unit.path).defined.get(word, frozenset())
        meant = tuple(
            p for p in places if self._means(other, block, methods, p) and not self._left_alone(other, block, p)
        )
        if not block.scope:
            hidden = other.scope and block.name in self.blocks(other.unit.path).defined.get(other.scope.encode(), ())
            meant = tuple(p for p in meant if not hidden or _qualified(other, p))
            meant = tuple(p for p in meant if fits(other, block, p, self.repository))
        return () if meant and other.is_parameter(word) else meant

    def _means(self, other: Block, block: Block, methods: frozenset[str], place: int) -> bool:
        """Whether the word at a place can be the block: no member of that name, no other method of its class."""
        if impossible(other, block, place):
            return False
        data = other.unit.data
        if not block.scope:
            meant = _is_handed_on(block, other) or _is_called(other, block, place)
            return meant and not _through(other, place) and not naming.hides(other, block.name.encode())
        end = place + len(block.scope)
        made = other.kind == "export" and data[end : end + 1] == b"<"  # the registry makes an object
        match = None if made else _MEMBER.match(data, end, end + 400)
        named = match[1].decode() if match is not None else ""
        if named and named != block.name and block.name == block.scope:
            return False  # another method of the class, or a type of a namespace of that name, makes no object
        if named[:1].isupper() and named != block.name:  # a type of the class (`Op<T>::Config`) calls nothing of it
            return named not in methods and block.name.encode() in other.words
        if named:
            return named == block.name or named not in methods
        if other.kind == "export" or (block.name != block.scope and block.name.encode() in other.words):
            return True
        key = other.unit.path, place
        if key not in self._standing:
            self._standing[key] = standing(data, place, len(block.scope))
        return reaches(other, block, self._standing[key]) or self._taken(other, block, place)

    def _taken(self, other: Block, block: Block, place: int) -> bool:
        """Whether an object of the class is handed to a function that calls the method."""
        named = handing.takers(other.unit.data, place, len(block.scope), other.end)
        known = (self._words_of_template(name) for name in dict.fromkeys(named))
        return any(block.name.encode() in words for words in known if words is not None)


def _defines_class(data: bytes, name: bytes) -> bool:
    """Whether a source holds a class itself, not only methods of it."""
    return re.search(rb"\b(?:class|struct)\s+(?:\w+\s+)?" + name + rb"\b[^;{}()]*\{", data) is not None


def _tests(repository: Repository, _: str) -> frozenset[str]:
    """The sources in folders of tests and benchmarks, through which no way leads to Python: none registers anything."""
    found = [p for p in repository.sources if _TEST_FOLDERS & set(p.split("/")[:-1])]
    apart = len(found) < len(repository.sources) and not any(_REGISTERS.search(repository.data(p)) for p in found)
    return frozenset(found if apart else ())


def _made_anew(block: Block, place: int) -> bool:
    """Whether a macro is undefined or defined again between its definition and a place."""
    again = re.compile(rb"^[ \t]*#[ \t]*(?:define|undef)[ \t]+" + re.escape(block.name.encode()) + rb"\b", re.MULTILINE)
    data = block.unit.data
    if place >= block.end:
        return again.search(data, block.end, place) is not None
    return place < block.start and again.search(data, place, data.rfind(b"#", 0, block.start)) is not None


def _calls_itself(block: Block, other: Block) -> bool:
    """Whether who names the class of a virtual method may call it, or exports the class: he names the method, too."""
    return other.kind == "export" or not {block.name.encode(), b"class_"}.isdisjoint(other.words)


def _within(other: Block, scope: str) -> bool:
    """Whether a method is one of a class that stands within another one, whose methods it calls by their names."""
    return other.function is not None and other.scope != "" and scope in classes(other.function.node)


def _through(other: Block, place: int) -> bool:
    """Whether a word is a member of something: ``x.word``, ``x->word``."""
    return other.unit.data[max(0, place - 3) : place].rstrip().endswith((b".", b"->"))


def _qualified(other: Block, place: int) -> bool:
    """Whether a namespace stands before a word; without one a method of the own class is meant before a function."""
    return other.unit.data[max(0, place - 3) : place].rstrip().endswith(b"::")


def _named(other: Block, class_: bytes, place: int) -> bool:
    """Whether the word at a place is a name of its own (of a class, where one is asked for), no member of an object."""
    return not class_ or other.unit.data.startswith(class_, place)


def _is_kernel(block: Block) -> bool:
    return block.function is not None and "__global__" in block.function.qualifier


def _is_handed_on(block: Block, other: Block) -> bool:
    """Whether a bare name counts: of a kernel or macro, or where functions are registered; else it is a variable."""
    if block.kind != "function" or other.kind != "function":
        return True
    return _is_kernel(block) or any(word in other.words for word in _REGISTRARS)


def _is_called(other: Block, block: Block, place: int) -> bool:
    """Whether a name is called, or its address or an instance of it taken: ``f(``, ``f<T>``, ``&f``, ``&ns::f``."""
    data = other.unit.data
    after = data[place + len(block.name) : place + len(block.name) + 80].lstrip()
    before = data[max(0, place - 200) : place]
    if after.startswith(b"}") and _IN_TABLE.search(before):
        return True
    return after.startswith((b"(", b"<", b"{")) or bool(_ADDRESS.search(before) or _IN_MACRO.search(before))
