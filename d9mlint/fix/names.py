"""The names under which a script knows packages: what its imports bind, and code of remedies said with these names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import libcst as cst
from libcst.helpers import get_full_name_for_node

from d9mlint.fix.remedies import ROOTS
from d9mlint.fix.tree import tree

_GRAPH = "tensorflow.compat.v1"
"""As ``tf``, it seeds by the function of TensorFlow 1."""
_ROOT = re.compile(rf"(?<![\w.])({'|'.join(ROOTS)})\.")


def imports(stmt: cst.CSTNode) -> list[cst.Import | cst.ImportFrom]:
    """The imports in a statement of one line."""
    parts = stmt.body if isinstance(stmt, cst.SimpleStatementLine) else ()
    return [part for part in parts if isinstance(part, (cst.Import, cst.ImportFrom))]


def binds(part: cst.Import | cst.ImportFrom) -> dict[str, str]:
    """What an import binds: the dotted name by the local one; of ``from . import x`` with the dots."""
    if isinstance(part, cst.Import):
        out: dict[str, str] = {}
        for alias in part.names:
            dotted = alias.evaluated_name
            local = alias.evaluated_alias
            out[local or dotted.partition(".")[0]] = dotted if local else dotted.partition(".")[0]
        return out
    module = get_full_name_for_node(part.module) if part.module is not None else ""
    holder = "." * len(part.relative) + (module or "")
    if isinstance(part.names, cst.ImportStar):
        return {"*": holder}
    return {alias.evaluated_alias or alias.evaluated_name: f"{holder}.{alias.evaluated_name}" for alias in part.names}


def bound(body: Iterable[cst.CSTNode]) -> dict[str, str]:
    """What the imports among these statements bind."""
    return {local: dotted for stmt in body for part in imports(stmt) for local, dotted in binds(part).items()}


def known(code: str, bound: Mapping[str, str]) -> str:
    """Code of a remedy with the names under which the script knows its packages."""
    told = _ROOT.sub(lambda match: _called(match[1], bound), code)
    return told.replace(".random.set_seed(", ".set_random_seed(") if _GRAPH in bound.values() else told


def _called(root: str, bound: Mapping[str, str]) -> str:
    package = ROOTS[root]
    if bound.get("*") == package:  # `from random import *`
        return ""
    names = [local for local, dotted in bound.items() if dotted == package or (root == "tf" and dotted == _GRAPH)]
    free = root if root not in bound else f"{package}_module"  # `from random import random` has taken the name
    return f"{root if root in names else names[0] if names else free}."


def as_known(code: str, source: bytes) -> str:
    """The same for a script with this source."""
    of = tree(source)
    return known(code, bound(of.module.body)) if of is not None else code


def lacking(code: str, bound: Mapping[str, str]) -> list[str]:
    """The imports that code, said with the names of a script, lacks."""
    names = dict.fromkeys(re.findall(r"(?<![\w.\"'])([A-Za-z_]\w*)\.", code))
    return [text for name in names if name not in bound and (text := _import(name))]


def _import(name: str) -> str:
    if name.endswith("_module"):
        return f"import {name.removesuffix('_module')} as {name}"
    package = ROOTS.get(name, "")
    return "" if not package else f"import {package}" if name == package else f"import {package} as {name}"
