"""What the catalogue knows, made ready for look-up by name."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Set

from d9mlint.model import Effect, Op, Target
from d9mlint.python.domain.index import index
from d9mlint.python.domain.values import Const, Value

BUILTINS = frozenset(dir(builtins))
_COMMON = frozenset(name for kind in (str, bytes, list, dict, set, int) for name in dir(kind))
_PYTHON, _ARGUMENT, _MODULE = ".py", "=", ":"
_SOME_CLASS = "C"
_CONFIG_ENDINGS = ("_cfg", "_config", "_conf", "_params")


class Knowledge:
    """Effects and ops by canonical name for one target, and the names themselves."""

    def __init__(
        self, aliases: Mapping[str, str], effects: Iterable[Effect], target: Target, ops: Iterable[Op] = (),
        named: Iterable[tuple[str, str]] = (), settings: Iterable[str] = (),
    ) -> None:  # fmt: skip
        told = tuple(named)
        self._modules = tuple((where, value[:-1]) for where, value in told if value.endswith(_MODULE))
        """Dotted names of what may be modules in config files, by the key they stand under and the one above it."""
        named = tuple(pair for pair in told if not pair[1].endswith(_MODULE))
        self.builtins = BUILTINS
        self.settings_files = tuple(settings)
        """Paths of config files that may hold settings of the program."""
        self.target = target
        values = {value for _, value in named}
        self.files_in_configs = tuple(sorted(value for value in values if value.endswith(_PYTHON)))
        """Paths of Python files that stand in config files."""
        self.classes_in_configs = frozenset(value for value in values if value.isidentifier())
        """What config files may name classes by where they have no dotted name: ``type: EDSR``."""
        self._classes_under: dict[str, set[str]] = {}
        """The same by the key they stand under and the one above it (``generator.name``); nothing under that above.

        By the key alone only where that says of what it is (``generator_type``).
        """
        for where, value in named:
            above, dot, key = where.rpartition(".")
            if value in self.classes_in_configs:
                for one in (where if dot else "", key if "_" in key else ""):
                    self._classes_under.setdefault(one, set()).add(value)
                self._classes_under.setdefault(above, set())
        self._classes_under.pop("", None)
        self._parts = frozenset(where for where, value in named if "." in value and not value.endswith(_PYTHON))
        """Keys of the parts that say by a dotted name of what an object is made."""
        self._arguments = frozenset(value[:-1] for value in values if value.endswith(_ARGUMENT))
        """Keys of the files that name classes."""
        self._dotted = frozenset(value for value in values if "." in value)
        self._named = tuple(pair for pair in named if not pair[1].endswith(_PYTHON))
        self._index = index(aliases, effects, ops)
        self._canonical = dict(self._index.canonical)
        self._effects: dict[str, tuple[Effect, ...]] = {}
        self._switching_in: dict[frozenset[str], frozenset[str]] = {}
        self.ops = self._index.ops
        """Ops by the names under which programs meet them."""
        self.varying: Set[str] = self._index.varying
        """The last parts of these names, and of those of calls that draw random numbers."""

    def canonical(self, name: str) -> str:
        """The one name of something that can be reached by several (``tf.keras.X`` is ``keras.X``)."""
        found = self._canonical.get(name)
        if found is None:
            found = self._canonical[name] = self._index.resolve(name)
        return found

    def named_in_configs(self, key: str) -> tuple[str, ...]:
        """Dotted names of classes and functions in config files: those under ``key`` where there are any, else all.

        What a program keeps as ``encoder_cfg`` stands under ``encoder``.
        """
        keys = _spellings(key)
        under = [dotted for where, dotted in self._named if where in keys and "." in dotted]
        return tuple(dict.fromkeys(under or (dotted for _, dotted in self._named if "." in dotted)))

    def leave_out(self, dotted: str, parameter: str) -> bool:
        """Whether config files name a class, and none of them what is given to one of its parameters."""
        is_named = dotted in self._dotted or dotted.rpartition(".")[2] in self.classes_in_configs
        return is_named and parameter not in self._arguments

    def key_in_configs(self, above: str, key: object) -> str:
        """The key under which classes stand in config files, or others above them, with the one above; else empty."""
        inside = f"{above}.{key}"
        return inside if inside in self._classes_under else self.part_in_configs(str(key))

    def part_in_configs(self, name: str) -> str:
        """The key of the part of config files that a program keeps under a name, if it says what is made; or empty."""
        if name in self._classes_under:
            return name
        return name if self._parts and not self._parts.isdisjoint(_spellings(name)) else ""

    def classes_under(self, key: str) -> Set[str]:
        """The plain names of classes that stand in config files under such a key; all that do where it has none."""
        return self._classes_under.get(key) or self.classes_in_configs

    def modules_under(self, key: str) -> tuple[str, ...]:
        """Dotted names of what may be modules in config files: under ``trainer.type``, else under any ``type``, or all.

        ``key`` is the key they stand under with the one above it, as far as these are known.
        """
        last = key.rpartition(".")[2]
        exact = [dotted for where, dotted in self._modules if where == key]
        alike = [dotted for where, dotted in self._modules if where.rpartition(".")[2] == last]
        return tuple(dict.fromkeys(exact or alike or (dotted for _, dotted in self._modules)))

    def on_in_configs(self, key: str) -> bool:
        """Whether a config file switches a setting on."""
        return any(where == key and "." not in value for where, value in self._named)

    def knows(self, name: str) -> bool:
        """Whether the catalogue says something of what has this very name."""
        canonical = self.canonical(name)
        return canonical in self.ops or canonical in self._index.effects

    def effects_of(self, canonical: str, raw: str) -> tuple[Effect, ...]:
        """The effects of calling ``canonical`` (reached as ``raw``) on this target."""
        found = self._effects.get(canonical)
        if found is None:
            module, _, last = canonical.rpartition(".")
            # (the last is of an attribute that only the data name: `table.user.sample`)
            keys = (canonical, f"{module}.*", f"{module.rpartition('.')[0]}.*.{last}")
            fitting = (self._fitting(key) for key in keys)
            found = self._effects[canonical] = next(filter(None, fitting), ())
        return found

    def _fitting(self, key: str) -> tuple[Effect, ...]:
        """The effects under a key of the catalogue that the target has."""
        return tuple(e for e in self._index.effects.get(key, ()) if e.fits(self.target))

    def switching(self, words: frozenset[str]) -> frozenset[str]:
        """Last parts of the names of calls that may seed or switch something in a file with these words.

        What Python's own types have too (``replace``, ``__init__``) does so only where the class is named.
        """
        found = self._switching_in.get(words)
        if found is None:
            found = self._switching_in[words] = frozenset(
                last
                for last, owners in self._index.switching.items()
                if last not in _COMMON or not owners.isdisjoint(words)
            )
        return found

    def names_in(self, module: str) -> list[str]:
        """Known names of a module outside the program, for star imports."""
        inside = len(module) + 1
        others = (alias[inside:] for alias in self._index.aliases if alias.startswith(f"{module}."))
        known = self._index.names.get(self.canonical(f"{module}.{_SOME_CLASS}").rpartition(".")[0], ())
        return sorted({*known, *(one for one in others if one.isidentifier())})

    def tells(self, module: str) -> bool:
        """Whether something that a rule may be about is in a module outside the program."""
        return self.canonical(module) in self._index.telling

    def constant(self, dotted: str, target: Target) -> Value | None:
        """Constants outside the program that decide branches: framework versions, ``typing.TYPE_CHECKING``."""
        name = self.canonical(dotted)
        if name in _CONSTANTS:
            return Const(_CONSTANTS[name])
        package, _, last = name.rpartition(".")
        if name == "tensorflow.version.VERSION":
            package, last = "tensorflow", "__version__"
        if last in ("__version__", "VERSION") and package.split(".")[0] in target.packages:
            return Const(target.version(package.split(".")[0]))
        return None


def _spellings(key: str) -> set[str]:
    """How a part of a configuration may be called that a program keeps under a name."""
    return {key, *(key.removesuffix(ending) for ending in _CONFIG_ENDINGS)}


_CONSTANTS = {"typing.TYPE_CHECKING": False}
