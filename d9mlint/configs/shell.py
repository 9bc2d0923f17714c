"""What a shell script starts, and with which environment: assignments are followed, nothing is executed.

What stands under a condition, in a loop or in a function may have happened or not: its variables are unknown after it.
Sources: POSIX.1-2017, Shell Command Language 2.6 (expansions), 2.9 (commands), 2.14 (special built-ins); bash(1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from d9mlint.configs.told import Text
from d9mlint.configs.words import Lines, Part, Places, Word, words
from d9mlint.model import EnvironmentVariable, Location

MAX_COMMANDS = 5_000
MAX_VARIABLES = 1_000
MAX_OPEN = 100
"""Compound commands within each other."""
MAX_ITEMS, MAX_WORDS = 200, 2_000
"""Words of an array, and of a command."""
MAX_SOURCED = 5
"""Depth of scripts that source others."""
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=")
_EXPANSION = re.compile(r"\$\{(\w+)(?:(:?[-=])(.*))?\}", re.DOTALL)
_ALL = re.compile(r"\$\{(\w+)\[[@*]\]\}")
_ENDS = frozenset({"\n", ";", "&", "|", "&&", "||", "(", ")", ";;", ";&", ";;&"})
_TESTS = frozenset({"[", "[[", "test"})
_DECLARES = frozenset({"export", "declare", "typeset", "local", "readonly"})

_START_NOTHING = frozenset((
    "echo", "printf", "mkdir", "rm", "rmdir", "cp", "mv", "ln", "ls", "cat", "grep", "sed", "awk", "head", "tail",
    "which", "type", "pip", "pip3", "apt", "apt-get", "yum", "wget", "curl", "tar", "unzip", "git", "touch",
    "chmod", "chown", "exit", "return", "shift", "sleep", "test", "[", "[[", "read", "trap", "wait", "kill",
    "true", "false", "date",
))  # fmt: skip
"""Commands whose words may name an interpreter and a script without starting them."""

Read = Callable[[str], "tuple[str, str] | None"]
"""Path and text of the file that a script sources, by its name there; None where it is not at hand."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A shell variable: its value (None: not known), where it was set, and whether children see it."""

    value: str | None
    location: Location
    exported: bool = False
    items: tuple[Text, ...] | None = None
    """Of an array: its words, as far as they are known."""


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command, and the environment that it gets."""

    words: tuple[Text, ...]
    environment: Mapping[str, EnvironmentVariable]
    location: Location
    folder: str = ""
    """Where the script has changed to, relative to where it was started."""


State = dict[str, Variable]


@dataclass
class _Scope:
    """An open compound command: the state before it, and those at the ends of its branches so far."""

    kind: str
    before: State
    branches: list[State] = field(default_factory=list)
    otherwise: bool = False
    pattern: bool = False
    array: str = ""
    items: list[Text] = field(default_factory=list)
    """Of an array that is assigned: its name and its words so far."""


def commands(
    text: str, places: Places, environment: Mapping[str, EnvironmentVariable] | None = None, read: Read | None = None,
    state: State | None = None,
) -> list[Command]:  # fmt: skip
    """The simple commands of a script, in order.

    ``environment`` is what the script itself is started with, ``state`` what else its text may speak of.
    """
    shell = Shell(read)
    shell.state.update(state or {})
    for name, one in (environment or {}).items():
        shell.state[name] = Variable(one.value, one.location, True)
    shell.run(text, places)
    return shell.found


class Shell:
    """The state of a shell while its script is read."""

    def __init__(self, read: Read | None = None) -> None:
        self.state: State = {}
        self.found: list[Command] = []
        self._read = read
        self._depth = 0
        self._places: Places = Lines("", "")
        self._scopes: list[_Scope] = []
        self._all_exported = False
        self._folder = ""

    def run(self, text: str, places: Places) -> None:
        """Reads a script."""
        kept = (self._places, self._scopes)
        self._places, self._scopes = places, []
        pending: list[Word] = []
        unsure = False
        redirect = False
        for word in words(text):
            if len(self.found) > MAX_COMMANDS:
                break
            if word.operator and word.operator not in _ENDS:
                redirect = True
            elif word.operator:
                redirect = False
                unsure = self._ended(pending, word.operator, unsure)
                pending = []
            elif redirect:
                redirect = False
            elif pending or not self._keyword(word):
                pending.append(word)
        self._ended(pending, "\n", unsure)
        self._places, self._scopes = kept

    def assign(self, text: str, places: Places, *, exported: bool) -> None:
        """Takes ``NAME=VALUE ...`` (or ``NAME VALUE``) as assignments; a name alone is one to something unknown."""
        self._places = places
        rest = [word for word in words(text) if not word.operator]
        if len(rest) > 1 and self._assigns(rest[0]) is None:
            values = [self._value(word.parts) for word in rest[1:]]
            value = None if None in values else " ".join(text or "" for text in values)
            self._assign({self._first(rest): Variable(value, self._location(rest[0], rest[-1]), exported)})
            return
        for word in rest:
            match = self._assigns(word)
            if match is not None:
                self._assign({match[1]: self._variable(match, word, exported)})
            elif len(rest) == 1:
                self.state.setdefault(self._first(rest), Variable(None, self._location(word), exported))

    def environment(self) -> dict[str, EnvironmentVariable]:
        """The variables that a command started now would see."""
        return {n: EnvironmentVariable(n, v.value, v.location) for n, v in self.state.items() if v.exported}

    # -- compound commands -----------------------------------------------------------------------------------------

    def _keyword(self, word: Word) -> bool:
        """Takes a reserved word where a command could begin; False for any other word."""
        if len(word.parts) != 1 or word.parts[0].quoted or word.parts[0].kind != "text":
            return False
        name = word.parts[0].text
        if name in ("if", "case", "{") or name in ("while", "until"):
            self._open("loop" if name in ("while", "until") else name, name == "case")
        elif name in ("elif", "else"):
            self._next_branch(name == "else")
        elif name in ("fi", "esac", "done", "}"):
            self._close()
        elif name not in ("then", "do", "!", "time"):
            return False
        return name != "case"  # `case WORD in` goes on as a command of its own

    def _open(self, kind: str, pattern: bool = False) -> None:
        if len(self._scopes) < MAX_OPEN:
            self._scopes.append(_Scope(kind, dict(self.state), pattern=pattern))

    def _next_branch(self, last: bool) -> None:
        if self._scopes:
            scope = self._scopes[-1]
            scope.branches.append(self.state)
            scope.otherwise = scope.otherwise or last
            self.state = dict(scope.before)

    def _close(self) -> None:
        if not self._scopes:
            return
        scope = self._scopes.pop()
        if scope.kind == "(":
            self.state = scope.before
        elif scope.kind != "{":
            others = scope.branches if scope.otherwise else [*scope.branches, scope.before]
            self.state = _merged([self.state, *others])
        elif self._scopes and self._scopes[-1].kind == "function":
            self._close()

    def _ended(self, pending: list[Word], operator: str, unsure: bool) -> bool:
        """Runs the command that an operator ends; returns whether the next one depends on how this one ends."""
        scope = self._scopes[-1] if self._scopes else None
        if scope is not None and scope.kind == "case" and self._case(scope, pending, operator):
            return False
        if operator == "(" and len(pending) == 1:
            self._before_parenthesis(pending[0])
            return False
        first = self._first(pending)
        if scope is not None and scope.array:
            found = (text for word in pending for text in self._texts(word))
            scope.items += islice(found, MAX_ITEMS - len(scope.items))
        elif pending:
            before = dict(self.state)
            self._command(pending)
            if unsure:
                self.state = _merged([self.state, before])
        if operator == "(":
            self._open("(")
        elif operator == ")" and scope is not None:
            self._end_of_parenthesis(scope)
        return operator == "||" or (operator == "&&" and (unsure or first in _TESTS))

    def _before_parenthesis(self, word: Word) -> None:
        """Takes the one word before a parenthesis: a function's name, ``for``, or an array that is assigned."""
        if self._first([word]) == "for":
            self._open("loop")
        elif (match := self._assigns(word)) is not None:
            known = self.state.get(match[1])
            self._assign({match[1]: Variable(None, self._location(word))})
            self._open("(")
            if len(self._scopes) <= MAX_OPEN:
                self._scopes[-1].array = match[1]
                self._scopes[-1].items = list(known.items or ()) if known is not None and match[2] else []
        else:
            self._open("function(")

    def _end_of_parenthesis(self, scope: _Scope) -> None:
        if scope.kind == "function(":
            self._scopes[-1] = _Scope("function", scope.before)
        elif scope.kind == "(":
            self._close()
            if scope.array in self.state:
                self.state[scope.array] = replace(self.state[scope.array], items=tuple(scope.items))

    def _case(self, scope: _Scope, pending: list[Word], operator: str) -> bool:
        """Takes what belongs to the pattern of a ``case``."""
        if operator in (";;", ";&", ";;&"):
            if pending:
                self._command(pending)
            scope.branches.append(self.state)
            self.state, scope.pattern = dict(scope.before), True
            return True
        if scope.pattern and operator == ")":
            scope.pattern = False
            return True
        return scope.pattern

    def _first(self, pending: list[Word]) -> str:
        return "".join(part.text for part in pending[0].parts) if pending else ""

    # -- simple commands -------------------------------------------------------------------------------------------

    def _command(self, pending: list[Word]) -> None:
        if self._first(pending) in ("for", "select") and len(pending) > 1:
            self._open("loop")
            self.state[self._first(pending[1:])] = Variable(None, self._location(pending[1]))
            return
        if self._first(pending) == "function":
            self._open("function")
            if self._first(pending[-1:]) == "{":
                self._open("{")
            return
        given: State = {}
        rest = list(pending)
        while rest and (match := self._assigns(rest[0])) is not None:
            given[match[1]] = self._variable(match, rest.pop(0))
        if not rest:
            self._assign(given)
        elif self._first(rest) not in _START_NOTHING:
            texts = tuple(islice((text for word in rest for text in self._texts(word)), MAX_WORDS))
            if texts and not self._built_in(texts, rest):
                self._record(texts, given)

    def _assigns(self, word: Word) -> re.Match[str] | None:
        part = word.parts[0] if word.parts else None
        return _ASSIGNMENT.match(part.text) if part is not None and part.kind == "text" and not part.quoted else None

    def _variable(self, match: re.Match[str], word: Word, exported: bool = False) -> Variable:
        rest = (replace(word.parts[0], text=word.parts[0].text[match.end() :]), *word.parts[1:])
        value = self._value(rest)
        if match[2]:
            known = self.state.get(match[1])
            value = None if value is None or known is None or known.value is None else known.value + value
        return Variable(value, self._location(word), exported)

    def _assign(self, given: State) -> None:
        for name, variable in given.items():
            known = self.state.get(name)
            if known is None and len(self.state) >= MAX_VARIABLES:
                continue
            seen = variable.exported or self._all_exported or (known is not None and known.exported)
            self.state[name] = replace(variable, exported=seen)

    def _built_in(self, texts: tuple[Text, ...], rest: list[Word]) -> bool:
        """Does what changes the shell itself."""
        name, arguments = texts[0].text, texts[1:]
        if name in _DECLARES:
            self._declare(name, rest[1:], {t.text for t in arguments if t.text.startswith("-")})
        elif name == "unset":
            for text in arguments:
                self.state.pop(text.text, None)
        elif name == "setenv" and len(arguments) == 2:
            value = arguments[1].text if arguments[1].known else None
            self.state[arguments[0].text] = Variable(value, self._location(rest[0], rest[-1]), True)
        elif name == "set":
            options = {text.text for text in arguments}
            self._all_exported = (self._all_exported or bool(options & {"-a", "-o allexport"})) and "+a" not in options
        elif name in ("source", ".") and arguments:
            self._source(arguments[0])
        elif name == "cd" and arguments:
            here, there = self._folder, arguments[0]
            self._folder = f"{here}/{there.text}".lstrip("/") if there.known and there.text[:1] != "/" else ""
        else:
            return False
        return True

    def _declare(self, name: str, rest: list[Word], options: set[str]) -> None:
        exported = name == "export" or any("x" in option for option in options)
        for word in rest:
            match = self._assigns(word)
            if match is not None:
                self._assign({match[1]: self._variable(match, word, exported)})
            elif exported and (known := self.state.get(self._first([word]))) is not None:
                self.state[self._first([word])] = replace(known, exported="-n" not in options)

    def _source(self, name: Text) -> None:
        found = self._read(name.text) if self._read and self._depth < MAX_SOURCED else None
        if found is not None:
            self._depth += 1
            self.run(found[1], Lines(*found))
            self._depth -= 1

    def _record(self, texts: tuple[Text, ...], given: State) -> None:
        own = {n: EnvironmentVariable(n, v.value, v.location) for n, v in given.items()}
        environment = {**self.environment(), **own}
        first, last = texts[0].location, texts[-1].location
        location = Location(first.path, first.line, first.column, last.end_line, last.end_column)
        self.found.append(Command(texts, environment, location, self._folder))

    # -- words -----------------------------------------------------------------------------------------------------

    def _location(self, word: Word, last: Word | None = None) -> Location:
        return self._places.location(word.start, (last or word).end)

    def _value(self, parts: tuple[Part, ...]) -> str | None:
        """The value of an assignment; None where a part of it is not known."""
        texts = [self._expanded(part) for part in parts]
        return None if None in texts else "".join(text or "" for text in texts)

    def _texts(self, word: Word) -> Iterator[Text]:
        """The words that a word becomes: those of an array; what stands in a variable without quotes is split."""
        parts = [part for part in word.parts if part.text]
        array = _ALL.fullmatch(parts[0].text) if len(parts) == 1 and parts[0].kind == "variable" else None
        held = self.state.get(array[1]) if array is not None else None
        if held is not None and held.items is not None:
            yield from held.items
            return
        texts = [self._expanded(part) for part in word.parts]
        known = None not in texts
        text = "".join(part.text if one is None else one for one, part in zip(texts, word.parts, strict=True))
        if known and any(part.kind == "variable" and not part.quoted for part in word.parts):
            yield from (Text(piece, True, self._location(word)) for piece in text.split())
        else:
            yield Text(text, known, self._location(word))

    def _expanded(self, part: Part) -> str | None:
        if part.kind == "text":
            return part.text
        match = _EXPANSION.fullmatch(part.text) if part.text.startswith("${") else None
        name = match[1] if match else part.text[1:]
        known = self.state.get(name)
        if part.kind == "unknown" or (match is None and part.text.startswith("${")):
            return None
        if known is not None:
            return known.value
        # A default is what the user gets who sets nothing.
        default = match[3] if match and match[2] else None
        return default.strip("\"'") if default is not None and not set("$`") & set(default) else None


def _merged(states: list[State]) -> State:
    """The variables after alternatives: what differs is not known."""
    names = dict.fromkeys(name for state in states for name in state)
    merged: State = {}
    for name in names:
        found = [state.get(name) for state in states]
        one = next(variable for variable in found if variable is not None)
        same = all(v is not None and (v.value, v.items) == (one.value, one.items) for v in found)
        exported = any(variable is not None and variable.exported for variable in found)
        merged[name] = replace(
            one, value=one.value if same else None, exported=exported, items=one.items if same else None
        )
    return merged
