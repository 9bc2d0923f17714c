"""Op files as text: what a scan of kernel sources writes, to be named under ``catalogues`` in the configuration."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.model import Op

_HEAD = """\
# Ops whose result can vary from run to run, as `d9mlint kernels --write` found them in kernel sources.
# Name this file under `catalogues` in the configuration, and `d9mlint check` reports where a program uses them.
"""


def text(ops: Iterable[Op]) -> str:
    """The YAML of an op file with these ops, in their order; ``sites`` are written as they are."""
    import yaml

    listed = list(ops)
    frameworks = [op.framework for op in listed]
    common = max(sorted(set(frameworks)), key=frameworks.count, default="torch")
    data = {"framework": common, "ops": [_entry(op, common) for op in listed]}
    return _HEAD + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110)


def _entry(op: Op, common: str) -> dict[str, object]:
    entry: dict[str, object] = {"op": op.name, "calls": list(op.calls), "direction": op.direction}
    entry["devices"] = list(op.devices)
    if op.framework != common:
        entry["framework"] = op.framework
    if op.why:
        entry["why"] = op.why
    entry["status"] = [
        {"default": one.default, "deterministic_mode": one.deterministic_mode}
        | ({"versions": one.versions} if one.versions else {})
        | ({"remedy": one.remedy} if one.remedy else {})
        for one in op.status
    ]
    entry["sites"] = list(op.sites)
    entry["sources"] = list(op.sources)
    return entry
