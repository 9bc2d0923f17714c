"""The files of the catalogue, put together and checked against each other; all that is wrong is told at once.

Imports yaml: loaded only when no compiled catalogue is in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from d9mlint.catalogue.content import Catalogue
from d9mlint.catalogue.files import File, Files
from d9mlint.catalogue.schema import entries, rules
from d9mlint.catalogue.schema.examples import examples
from d9mlint.model import CONFIGS, KERNELS, CatalogueError, Effect, Family, Op, Rule

_PROBES = "probes"
_BUILDS = "builds"


class _Builder:
    """Collects entries and complaints file by file."""

    def __init__(self, files: Files, full: bool) -> None:
        self.files = files
        self.full = full
        self.errors: list[str] = []
        self.hazards: dict[str, str] = {}
        self.rules: dict[str, Rule] = {}
        self.ids: dict[str, str] = {}
        self.effects: list[Effect] = []
        self.ops: list[Op] = []
        self.aliases: dict[str, str] = {}
        self.families: list[Family] = []

    @contextmanager
    def collect(self) -> Iterator[None]:
        try:
            yield
        except CatalogueError as error:
            self.errors.append(str(error))

    def add_rule(self, file: File) -> None:
        text = file.text()
        if file.name in self.rules:
            other = self.rules[file.name]
            raise CatalogueError(f"{file.shown}:1: duplicate rule name (also in {other.family}/{file.name}.yaml)")
        own = {KERNELS: self.files.kernel_modules, CONFIGS: self.files.config_modules}
        modules = own.get(file.family) or _of_family(self.files.modules, file.family)
        rule, place = rules.rule(file.shown, text, file.name, file.family, self.hazards, modules)
        if rule.id in self.ids:
            raise place.error(f"duplicate id {rule.id} (also in {self.ids[rule.id]})")
        self.ids[rule.id] = f"{rule.family}/{rule.name}.yaml"
        self.rules[rule.name] = rule._replace(path=file.path)
        if self.full:
            examples(file.shown, text)

    def add_effects(self, file: File) -> None:
        found, aliases = entries.effects(file.shown, file.text())
        self.effects.extend(found)
        for prefix, (meaning, place) in aliases.items():
            if self.aliases.setdefault(prefix, meaning) != meaning:
                raise place.error(f"alias `{prefix}` already stands for `{self.aliases[prefix]}`")

    def add(self, file: File) -> None:
        kind = _kind(file)
        if self.full and kind in (_PROBES, "ops"):
            from d9mlint.catalogue.schema.cases import executables

            executables(file)
        if self.full and kind == _BUILDS:
            from d9mlint.catalogue.schema.builds import families

            self.families += families(file)
        if kind == "effects":
            self.add_effects(file)
        elif kind in (_PROBES, _BUILDS):
            pass  # for `verify` and for the scan of builds; unknown to the rules
        elif kind == "ops":
            self.ops.extend(_located(op, file) for op in entries.ops(file.shown, file.text(), file.extra))
        else:
            self.add_rule(file)

    def families_without_op(self) -> None:
        """Builds name ops of the catalogue, which may stand in a file that is read later, probes among them."""
        if not self.families:
            return
        from d9mlint.catalogue.schema.builds import unknown_ops
        from d9mlint.catalogue.schema.cases import executables

        probes = [one.op.name for file in self.files.rules if _kind(file) == _PROBES for one in executables(file)]
        for name in unknown_ops(self.families, [*(op.name for op in self.ops), *probes]):
            self.errors.append(f"rules/{_BUILDS}: no op of the catalogue is called `{name}`")

    def modules_without_rule(self) -> None:
        about = [file for file in self.files.rules if _kind(file) == "rule"]
        named = {rules.module_name(file.name) for file in about}
        named |= {f"{file.family}/{rules.module_name(file.name)}" for file in about}
        files = self.files
        for module, shown in (*files.modules.items(), *files.kernel_modules.items(), *files.config_modules.items()):
            if module not in named:
                self.errors.append(f"{shown}:1: no rule file named {module.replace('_', '-')}.yaml for this module")


def _of_family(modules: Mapping[str, str], family: str) -> dict[str, str]:
    """The modules in the folder of a family, by their names alone."""
    parts = ((module.partition("/"), shown) for module, shown in modules.items())
    return {name: shown for (folder, _, name), shown in parts if folder == family}


def _located(op: Op, file: File) -> Op:
    """The op with its sites, which are written relative to its file, as absolute paths."""
    folder = Path(file.path).absolute().parent
    return op._replace(sites=tuple((folder / site).as_posix() for site in op.sites)) if op.sites else op


def _kind(file: File) -> str:
    """``effects``, ``probes``, ``builds``, ``ops`` or ``rule``."""
    if file.family in ("effects", _PROBES, _BUILDS):
        return file.family
    return "ops" if file.extra or file.has_ops else "rule"


def compile_files(files: Files, full: bool) -> Catalogue:
    """The catalogue that ``files`` describe; ``full`` checks the examples as well."""
    builder = _Builder(files, full)
    with builder.collect():
        builder.hazards = rules.hazards(files.hazards.shown, files.hazards.text())
    if not builder.errors:
        for file in (*files.rules, *files.extra):
            with builder.collect():
                builder.add(file)
        builder.modules_without_rule()
        builder.families_without_op()
    if builder.errors:
        raise CatalogueError("\n".join(builder.errors))
    return Catalogue(
        rules=dict(sorted(builder.rules.items())),
        effects=tuple(builder.effects),
        ops=tuple(builder.ops),
        aliases=builder.aliases,
        hazards=builder.hazards,
        digest=files.digest,
    )


def with_extra(built_in: Catalogue, files: Files) -> Catalogue:
    """The catalogue of ``files``, whose rules are those of ``built_in``: op files of users only add ops."""
    builder = _Builder(files, False)
    for file in files.extra:
        with builder.collect():
            builder.add(file)
    if builder.errors:
        raise CatalogueError("\n".join(builder.errors))
    return built_in._replace(ops=(*built_in.ops, *builder.ops), digest=files.digest)
