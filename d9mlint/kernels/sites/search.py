"""The search for atomics through wrappers and macros, wave by wave, until no new name turns up."""

from __future__ import annotations

import re
from collections.abc import Iterable

from d9mlint.kernels.sites import amdgpu, chosen, expand, functors, wrappers
from d9mlint.kernels.sites import macros as preprocessor
from d9mlint.kernels.sites.calls import call_at, name_node
from d9mlint.kernels.sites.expand import Use
from d9mlint.kernels.sites.macros import Macro
from d9mlint.kernels.sites.names import EITHER, KNOWN, portable
from d9mlint.kernels.sites.presence import ASSEMBLER, ATOMICS, BULK, NEEDLE, bulk_uses, is_module, members_in
from d9mlint.kernels.sites.sightings import Key, Knowledge, Sighting, of_assembler, of_call, of_functor, of_object
from d9mlint.kernels.sites.strings import Text, string_around
from d9mlint.kernels.source import plain
from d9mlint.kernels.source.lexical import argument_of, in_line_comment, word_places, words_holding
from d9mlint.kernels.source.mask import dead
from d9mlint.kernels.source.repository import MAX_BYTES, Repository
from d9mlint.kernels.source.unit import Function, Unit, unparsed

MAX_WAVES = 40
_NO_COPY = re.compile(
    rb"(?:\bstruct|\bclass|\bdecltype\s*\(\s*\w+\s*\(|\bis_(?:same|base_of)\w*\s*<[^;{}]{0,100})\s*(?:\w+\s*::\s*)*\Z"
)
"""Before a name that is defined or compared here, or whose copy is only asked for its type."""


def search(repository: Repository) -> Knowledge:
    """Everything that is an atomic operation in the sources, and what wraps it."""
    return _Search(repository).run()


class _Search:
    """The state between waves; used once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.known = Knowledge(repository)
        self._holding: list[str] = []
        self._bodies: dict[Macro, Unit] = {}
        self._listed: set[Macro] = set()
        self._read_members: set[str] = set()
        self._waiting: dict[Key, list[Macro]] = {}

    def run(self) -> Knowledge:
        """Looks at the known names first, then at those that turn up."""
        for path, kinds in self.repository.looked(ATOMICS).items():
            self._seed(path, kinds)
        uses: dict[Key, Use] = {}
        for _ in range(MAX_WAVES):
            names, self.known.changed = sorted(self.known.changed), set()
            for name in names:
                self._follow(name)
            waiting, self._waiting = self._waiting, {}
            fresh = expand.expanded(self.known, waiting)
            uses |= fresh
            for key, use in uses.items():
                if key in fresh or any(n in u.data[a:b] for n in names for u, a, b in use.pieces):
                    expand.read(self.known, key, use)
            if not self.known.changed:
                break
        chosen.note(self.known, self._holding)
        return self.known

    # Where names stand.

    def _seed(self, path: str, kinds: tuple[str, ...]) -> None:
        """What a source may hold by its bytes: see ``ATOMICS``."""
        data = self.repository.data(path)
        if not self._fits(path, data):
            return
        if path.endswith(".ptx"):
            unit = unparsed(path, data)
            self._ptx(unit, unit, None, "ptx")
            return
        if "named" in kinds:
            self._holding.append(path)
            for start, word in words_holding(data, NEEDLE, EITHER if portable(data) else KNOWN):
                self._look(path, start, word)
            if members_in(data):
                self._member_files(path)
            if b"atomic_load" in data:
                self._waiting_for(path, data)
            if b"llvm.amdgcn." in data:
                self._bound(path, data)
        for word in ASSEMBLER if "assembler" in kinds else ():
            for start in word_places(data, word):
                self._look(path, start, word)
        if "views" in kinds:
            self._viewing(path)
        if "turns" in kinds:
            self._turns(path)
        if "bulk" in kinds:
            self._bulk(path, data)
        if "module" in kinds:
            self._ptx_strings(path, data)
        if "written" in kinds:
            self._written(path)

    def _waiting_for(self, path: str, data: bytes) -> None:
        """The loads of a file that end a wait."""
        from d9mlint.kernels.sites import loads

        for start, word in words_holding(data, NEEDLE, loads.LOADS):
            file = None if in_line_comment(data, start) else self.repository.unit(path)
            call = call_at(file, start, word) if file is not None else None
            found = loads.of_load(call, file) if call is not None and file is not None else None
            if found is not None:
                self.known.add((path, start), found)

    def _bound(self, path: str, data: bytes) -> None:
        """Functions that are declared as an intrinsic of LLVM's, to be looked for like a wrapper that turns up."""
        for name, text in amdgpu.bound(data):
            self.known.llvm.setdefault(name.decode(), text)
            self.known.bound[name.decode()].append(path)
            self.known.changed.add(name)

    def _fits(self, path: str, data: bytes) -> bool:
        """Whether the file can be parsed; where it cannot and holds an atomic, it is named in ``unchecked``."""
        if len(data) <= MAX_BYTES and b"\0" not in data:
            return True
        from d9mlint.kernels.sites import ptx

        hits = (start for start, _ in words_holding(data, NEEDLE, KNOWN) if not in_line_comment(data, start))
        if next(hits, None) is not None or ptx.INSTRUCTION.search(data) is not None:
            self.repository.unit(path)
        return False

    def _follow(self, name: bytes) -> None:
        """Looks at every place of a name that has turned up as a macro, a wrapper or a functor."""
        text = name.decode("utf-8", "replace")
        macros = self.known.macros.get(name, ())
        definers = {d.location.path for d in self.known.definitions.get(text, ())} | {m.path for m in macros}
        definers.update(self.known.bound.get(text, ()))
        for path in self._candidates(name, definers):
            if name in self.repository.data(path):
                for start in list(word_places(self.repository.data(path), name)):
                    self._look(path, start, name)
        homes = {d.location.path for d in self.known.functors.get(text, ())}
        for path in self._candidates(name, homes) if homes else ():
            if name in self.repository.data(path):
                functors.follow(self.known, text, path)

    def _candidates(self, name: bytes, definers: Iterable[str]) -> list[str]:
        """The files that may use what these define."""
        found = {path for d in definers for path in self.repository.users(d) | plain.seeing(self.repository, d)}
        if NEEDLE in name.lower():
            found.update(self._holding)
        if name.isupper() and NEEDLE in name.lower():
            found.update(self.repository.mentioning(name))  # a kernel may be compiled behind the file that defines it
        return sorted(p for p in found if len(self.repository.data(p)) <= MAX_BYTES)

    def _look(self, path: str, start: int, word: bytes) -> None:
        """One place of a name."""
        data = self.repository.data(path)
        if (path, start) in self.known.sightings or in_line_comment(data, start):
            return
        if any(first <= start < last for first, last in self.repository.derived(_dead, path)):
            return
        file = self.repository.unit(path)
        if file is None:
            return
        macro = preprocessor.defined_around(path, data, start)
        if macro is not None:
            self._in_macro(file, macro, start, word)
        elif word in self.known.macros and not expand.defines(self.known, path, word):
            self._use(file, start, self.known.macros[word])
        elif word in ASSEMBLER:
            for index, found in enumerate(of_assembler(file, start, word)):
                self.known.add((path, start + index), found)
        else:
            self._call(file, start, word)

    def _call(self, file: Unit, start: int, word: bytes) -> None:
        text = string_around(file, start)
        if text is not None and not text.is_code:
            return
        unit, at = (file, start) if text is None else (text.unit, text.offset(start))
        call = call_at(unit, at, word)
        if call is None:
            self._no_call(file, start, word)
            return
        found = of_call(self.known, call, unit, file.path)
        if found is not None and text is not None:
            found = found._replace(form="ptx-string", location=file.span(start, start + len(word)))
        if found is not None:
            self.known.add((file.path, start), found)

    def _no_call(self, file: Unit, start: int, word: bytes) -> None:
        """A name that is defined here, or passed to a macro that makes a function of it."""
        node = name_node(file, start, start + len(word))
        if node is None:
            return
        defined = wrappers.defined_by(file, node)
        if defined is not None:
            self.known.plain[defined.name].append((file.path, defined.qualifier))
        outer = argument_of(file.data, start) if file.function(node) is None else None
        if outer is None:
            return
        name, at = outer
        paths = [p for p in sorted(self.repository.reachable(file.path)) if name in self.repository.data(p)]
        found = [m for p in paths for m in preprocessor.definitions(p, self.repository.data(p), name)]
        if found:
            self._use(file, at, found)

    # What stands there.

    def _in_macro(self, file: Unit, macro: Macro, start: int, word: bytes) -> None:
        if expand.defines(self.known, file.path, word):
            return
        self._carried(file, macro, start, self._in_body(macro, self._body(macro, file), file, start, word))

    def _body(self, macro: Macro, file: Unit) -> Unit:
        body = self._bodies.get(macro)
        if body is None:
            body = self._bodies[macro] = preprocessor.body_unit(macro, file)
        return body

    def _carried(self, file: Unit, macro: Macro, start: int, found: list[Sighting]) -> None:
        """Notes what the body of a macro holds at a byte of the file, and that its uses are to be looked at."""
        for index, one in enumerate(found):
            carried = one._replace(form="macro-def", owner=None)
            self.known.sightings[file.path, start + index] = carried
            self.known.in_macros[macro.name.decode()].append(carried)
        if found and macro not in self._listed:
            self._listed.add(macro)
            self.known.macros[macro.name].append(macro)
        if found:
            self.known.changed.add(macro.name)

    def _in_body(self, macro: Macro, body: Unit, file: Unit, start: int, word: bytes) -> list[Sighting]:
        at = start - macro.body_start
        if word in ASSEMBLER:
            return of_assembler(body, at, word, loose=True)
        call = call_at(body, at, word)
        if call is not None and word not in self.known.macros:
            one = of_call(self.known, call, body, macro.path)
            return [one] if one is not None else []
        node = body.root.descendant_for_byte_range(at, at + len(word))
        if node is None or node.type in expand.NO_CODE:
            return []
        if word not in self.known.macros and NEEDLE not in word.lower():
            return []
        known = KNOWN.get(word)
        intrinsic, scope = (known.intrinsic, known.scope) if known is not None else ("", "device")
        if call is None:
            where = file.span(start, start + len(word))
            return [Sighting(where, word.decode(), intrinsic, scope, "macro-def", body, node, None)]
        where = body.location(call.node)
        return [
            Sighting(where, word.decode(), intrinsic, scope, "macro-def", body, call.node, None, call.arguments, call)
        ]

    def _use(self, file: Unit, start: int, candidates: list[Macro]) -> None:
        """Notes a use of a macro, to be expanded with the others of its function."""
        seen = expand.usable(self.known, file, start, candidates)
        if seen:
            self._waiting[file.path, start] = seen

    # Other ways to write an atomic, which few repositories know: what reads them is imported for those.

    def _viewing(self, path: str) -> None:
        """A file that names atomic views, and those that include it and use its names for them."""
        from d9mlint.kernels.sites import views

        named = views.named(self.repository, path)
        for source in sorted(self.repository.users(path)) if named else [path]:
            data = self.repository.data(source)
            unit = self.repository.unit(source) if source == path or any(n in data for n in named) else None
            if unit is not None:
                self._objects(unit, "views")

    def _objects(self, unit: Unit, kind: str) -> None:
        from d9mlint.kernels.sites import members, views

        for one in (views if kind == "views" else members).operations(unit, self.repository):
            self.known.add((unit.path, one.start), of_object(one, unit))
        for call in functors.handed(unit) if kind == "members" else ():
            self.known.add((unit.path, call.start), of_functor(call, unit))

    def _member_files(self, path: str) -> None:
        """A file that names ``cuda::atomic`` or a class like it, and those that include it and use its names for it."""
        from d9mlint.kernels.sites import members

        named = members.named(self.repository, path)
        for source in sorted({path, *(self.repository.users(path) if named else ())} - self._read_members):
            data = self.repository.data(source)
            used = source == path or any(name in data for name in named)
            file = self.repository.unit(source) if used and len(data) <= MAX_BYTES else None
            if file is not None:
                self._read_members.add(source)
                self._objects(file, "members")
                self._members_in_macros(file)

    def _members_in_macros(self, file: Unit) -> None:
        """Atomic objects in the bodies of macros, which are no code to the parser of the file."""
        from d9mlint.kernels.sites import members

        for macro in members.macros(file):
            body = self._body(macro, file)
            for one in members.in_body(macro, body, self.repository):
                self._carried(file, macro, macro.body_start + one.start, [of_object(one, body)])

    def _turns(self, path: str) -> None:
        """Turns that blocks wait for and pass on."""
        from d9mlint.kernels.sites import turns

        unit = self.repository.unit(path)
        for start, found in turns.turns(unit) if unit is not None else ():
            self.known.sightings.setdefault((path, start), found)

    def _bulk(self, path: str, data: bytes) -> None:
        """Reductions by bulk copies: a copy is made of the type of this name, on the host, or by an alias of it.

        They happen where the copy is used, as far as the file shows that.
        """
        unit = self.repository.unit(path)
        for match in BULK.finditer(data) if unit is not None else ():
            assert unit is not None
            before = data[max(0, match.start() - 200) : match.start()]
            if in_line_comment(data, match.start()) or _NO_COPY.search(before) is not None:
                continue
            node = unit.root.descendant_for_byte_range(match.start(), match.end())
            if node is None or node.type == "comment":
                continue
            name, word = match[0].decode(), match[1].decode().lower()
            intrinsic = KNOWN[f"atomic{word.capitalize()}".encode()].intrinsic
            for start, end in bulk_uses(data, before) or [match.span()]:
                at = unit.root.descendant_for_byte_range(start, end)
                self.known.sightings[path, start] = Sighting(
                    unit.span(start, end), name, intrinsic, "device", "direct", unit, None,
                    unit.function(at) if at is not None else None, assembler=f"cp.reduce.async.bulk.tensor.{word}",
                )  # fmt: skip

    def _ptx_strings(self, path: str, data: bytes) -> None:
        from d9mlint.kernels.sites import ptx

        file = self.repository.unit(path)
        seen: set[int] = set()
        for match in ptx.INSTRUCTION.finditer(data) if file is not None else ():
            assert file is not None
            text = string_around(file, match.start())
            if text is not None and text.start not in seen:
                seen.add(text.start)
                if is_module(text.data):
                    self._ptx(file, unparsed(path, text.data), text, "ptx-string")

    def _written(self, path: str) -> None:
        """PTX that a program puts together, an instruction at a time."""
        from d9mlint.kernels.sites import texts

        file = self.repository.unit(path)
        for start, found in texts.written(file) if file is not None else ():
            self.known.sightings.setdefault((path, start), found)

    def _ptx(self, file: Unit, unit: Unit, text: Text | None, form: str) -> None:
        from d9mlint.kernels.sites import ptx

        for one in ptx.instructions(unit.data):
            start, end = (one.start, one.end) if text is None else (text.origin(one.start), text.origin(one.end))
            name, kernel = ptx.function_before(unit.data, one.start)
            function = Function(name, "", unit.root, "__global__" if kernel else "__device__") if name else None
            self.known.sightings[file.path, start] = Sighting(
                file.span(start, end), one.name, one.intrinsic, one.scope, form, unit, None, function,
                assembler=one.text,
            )  # fmt: skip


def _dead(repository: Repository, path: str) -> list[tuple[int, int]]:
    return dead(repository.data(path))
