"""Programs that import their own code under the name of the folder that holds the checkout, whatever it is called here.

``from sam.models import net`` in a repository that *is* the package ``sam``: it runs where the folder above is on the
path, and the name is that of the folder there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence

from d9mlint.python.project.importlines import ImportLine, import_lines
from d9mlint.python.source.filenames import join

_README = ("README.md", "README.rst", "README")
_REQUIRED = ("requirements.txt", "setup.py", "pyproject.toml", "environment.yml")
"""What names the packages that come from elsewhere."""


def home(
    package: str, roots: Sequence[str], importer: str, lines: Iterable[ImportLine], data: Callable[[str], bytes | None]
) -> str | None:
    """The root that is itself the ``package`` which a file imports; None where that cannot be told.

    All that the file imports from the package has to be there, down to the names, and nothing may say that the package
    comes from elsewhere.

    Args:
        package: the first part of a dotted name that no root holds.
        roots: where imports start from.
        importer: the file, below the root.
        lines: its imports.
        data: the bytes of a file; None where there is none.
    """
    if package in sys.stdlib_module_names:
        return None
    taken = [(module.split(".")[1:], names) for dots, module, names in lines if not dots and _is_in(module, package)]
    if not any(names for _, names in taken):
        return None
    inside = any(names and parts for parts, names in taken)  # `from sam import net` alone may mean any package
    several = len({tuple(parts) for parts, _ in taken}) > 1
    for root in roots:
        above = root in ("", ".") and not importer.startswith("../")
        if not above and not importer.startswith(join(root, "")):
            continue
        held = all(_holds(root, package, parts, names, data) for parts, names in taken)
        if not held or _is_required(package, root, data):
            continue
        if inside and (several or data(join(root, "__init__.py")) is not None):
            return root
        if _is_started(package, root, data):
            return root
    return None


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _holds(
    root: str, package: str, parts: Sequence[str], names: Iterable[str], data: Callable[[str], bytes | None]
) -> bool:  # fmt: skip
    """Whether a module lies below a root, and the names that are taken out of it are in it.

    A name that it takes out of the very module that it would be comes from another: ``from torch.utils import
    tensorboard`` in ``utils.py``.
    """
    inside = "/".join(parts)
    if inside and not any(data(join(root, path)) is not None for path in (f"{inside}/__init__.py", f"{inside}.py")):
        # A folder without __init__: what is taken out of it are its modules.
        return bool(names) and all(data(join(root, f"{inside}/{name}.py")) is not None for name in names)
    text = next(filter(None, (data(join(root, path)) for path in (f"{inside}.py", join(inside, "__init__.py")))), b"")
    own = ".".join((package, *parts))
    foreign = {name for dots, module, taken in import_lines(text) if not dots and module == own for name in taken}
    for name in names:
        modules = (join(inside, f"{name}.py"), join(inside, f"{name}/__init__.py"))
        if any(data(join(root, path)) is not None for path in modules):
            continue
        if name in foreign or not _is_named(name, text):
            return False
    return True


def _is_named(name: str, text: bytes) -> bool:
    """Whether a text has a name that is no part of something else: not ``data.Loader`` for ``Loader``."""
    return re.search(rb"(?<![\w.])%s(?!\w)" % re.escape(name.encode()), text) is not None


def _is_required(package: str, root: str, data: Callable[[str], bytes | None]) -> bool:
    """Whether the package is named among those that are to be installed."""
    word = re.compile(rb"(?<![\w.-])%s(?![\w-])" % re.escape(package.encode()))
    return any(word.search(data(join(root, name)) or b"") for name in _REQUIRED)


def _is_started(package: str, root: str, data: Callable[[str], bytes | None]) -> bool:
    """Whether the README starts a module of the package, which is there."""
    started = re.compile(rb"-m[ \t]+%s\.([\w.]*\w)" % re.escape(package.encode()))
    found = {
        one.decode().replace(".", "/") for name in _README for one in started.findall(data(join(root, name)) or b"")
    }
    return any(data(join(root, path)) is not None for one in found for path in (f"{one}.py", f"{one}/__main__.py"))
