"""Specifications of kernels as text: drafts for a person to complete, in the form that ``schema.launches`` reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from d9mlint.model.kernel_launch import KernelLaunch, Operand

_HEAD = """\
# A draft by `d9mlint kernels --draft-spec`: names and types are those of the sources, sizes and values are guesses.
# Go through it, then: d9mlint verify --kernels --spec FILE (it compiles and executes these kernels).
kernels:
"""


def text(drafts: Iterable[tuple[KernelLaunch, Mapping[str, str]]]) -> str:
    """The YAML of a specification; ``""`` among the notes is about the whole kernel."""
    return _HEAD + "".join(_entry(launch, notes) for launch, notes in drafts)


def _entry(launch: KernelLaunch, notes: Mapping[str, str]) -> str:
    lines = [f"  - kernel: {launch.kernel}{_note(notes.get('', ''))}", f"    source: {_quoted(launch.source)}"]
    if launch.template:
        lines.append(f"    template: [{', '.join(_quoted(one) for one in launch.template)}]")
    lines += [f"    grid: {_sizes(launch.grid)}", f"    block: {_sizes(launch.block)}", "    arguments:"]
    lines += [f"      {one.name}: {{{_operand(one)}}}{_note(notes.get(one.name, ''))}" for one in launch.arguments]
    return "\n".join(lines) + "\n"


def _operand(one: Operand) -> str:
    if one.code:
        return f"code: {_quoted(one.code)}"
    if one.value is not None:
        return f"dtype: {one.dtype}, value: {str(one.value).lower()}"
    parts = [f"dtype: {one.dtype}", f"shape: [{', '.join(map(str, one.shape))}]", f"values: {one.values}"]
    if one.values == "index":
        parts.append(f"below: {one.high:g}")
    return ", ".join([*parts, *(["output: true"] if one.output else [])])


def _sizes(sizes: tuple[int, ...]) -> str:
    return str(sizes[0]) if len(sizes) == 1 else f"[{', '.join(map(str, sizes))}]"


def _note(text: str) -> str:
    return f"  # {text}" if text else ""


def _quoted(text: str) -> str:
    return text if text.replace("_", "").replace("/", "").replace(".", "").replace("-", "").isalnum() else f'"{text}"'
