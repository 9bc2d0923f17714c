"""Load the catalogue: from the compiled copy in the cache where there is one, else from the YAML files.

A warm start reads the files only to fingerprint them and never imports yaml.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from d9mlint.cache import cache_folder
from d9mlint.catalogue import store
from d9mlint.catalogue.content import Catalogue
from d9mlint.catalogue.files import (
    config_modules_folder,
    gather,
    kernel_modules_folder,
    modules_folder,
    read,
    rules_folder,
)
from d9mlint.model import Example, Rule

__all__ = ["Catalogue", "load", "load_from", "read_examples"]


def load(extra: Sequence[Path] = (), *, cache: bool = True, full: bool = False) -> Catalogue:
    """The built-in catalogue with the op files ``extra``; ``full`` reads and checks everything, examples too."""
    folder = cache_folder() if cache else None
    return load_from(
        rules_folder(), extra, modules=modules_folder(), kernel_modules=kernel_modules_folder(),
        config_modules=config_modules_folder(), cache=folder, full=full,
    )  # fmt: skip


def load_from(
    folder: Path,
    extra: Sequence[Path] = (),
    *,
    modules: Path | None = None,
    kernel_modules: Path | None = None,
    config_modules: Path | None = None,
    cache: Path | None = None,
    full: bool = False,
) -> Catalogue:
    """The catalogue in ``folder``; ``modules`` holds the Python halves of its rules, ``cache`` compiled catalogues.

    ``kernel_modules`` holds those of the family ``kernels``, ``config_modules`` those of ``configs``.
    """
    files = gather(folder, extra, modules, kernel_modules, config_modules)
    if cache is not None and not full:
        known = store.read(cache, files.digest, folder)
        if known is not None:
            return known
    from d9mlint.catalogue.compile import compile_files, with_extra  # imports yaml

    if extra and not full:  # who edits op files waits for these, not for all rules
        built_in = load_from(
            folder, modules=modules, kernel_modules=kernel_modules, config_modules=config_modules,
            cache=cache, full=False,
        )  # fmt: skip
        catalogue = with_extra(built_in, files)
    else:
        catalogue = compile_files(files, full)
    if cache is not None:
        store.write(cache, catalogue)
    return catalogue


def read_examples(rule: Rule) -> tuple[Example, ...]:
    """The examples of ``rule``, in the order of the file; a ``fixed`` text directly follows its ``bad`` one."""
    from d9mlint.catalogue.schema.examples import examples  # imports yaml

    file = read(Path(rule.path), rule.family, False)
    return examples(file.shown, file.text())
