"""Whether the patches of ``check --fix --unsafe-fixes`` make the runs equal: tried on a copy of the program."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from d9mlint.app.options import Options
from d9mlint.app.traced.state import MARGIN, Tracing, entry
from d9mlint.model import Comparison, CureTried, D9mlintError, Finding
from d9mlint.model.trace import FAILED, UNTRIED
from d9mlint.trace import compare
from d9mlint.trace.copying import Copy, copied, top_of
from d9mlint.trace.cost import cost
from d9mlint.trace.run import LIGHT, Conditions, Program, Run, run

_BLOCKS = 3
"""Pairs of runs, one as the program is and one cured, for what the cure costs."""
_PLAIN, _CURED = "for the cost", "cured"


def tried(state: Tracing) -> CureTried:
    """Runs the patched copy, taking turns with the program as it is."""
    from d9mlint import fix
    from d9mlint.app import fixing

    script = entry(state.options)
    if script is None:
        return _not("the file of the module is not in this folder, so it cannot be patched")
    options = Options(
        (script,), config=state.options.config, unsafe_fixes=True, argv=state.options.arguments or None
    )  # fmt: skip
    try:
        report, cure, sources = fixing.patches(options)
    except D9mlintError as error:
        return _not(f"it cannot be checked: {error}")
    left = tuple(f"{_named(found)}: {reason}" for found, reason in cure.left)
    if not cure.sources:
        why = "no finding of it has a patch" if report.findings else "`d9mlint check` finds nothing in it"
        return _not(why)._replace(left=left)
    cwd = Path.cwd()
    patched = {cwd / path: data for path, data in cure.sources.items()}
    found = CureTried(
        _not("").comparison, tuple(sorted(cure.sources)), tuple(sorted(map(_named, cure.cured))), left,
        diff=fix.unified(sources.stored, cure.sources),
    )  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="d9mlint-cure-", ignore_cleanup_errors=True) as name:
        try:
            copy = copied(top_of(script, cwd, list(patched)), Path(os.path.realpath(name)), patched)
        except OSError as error:
            why = f"the program's folder cannot be copied: {error.strerror or error}"
            return found._replace(comparison=Comparison(FAILED, what=why))
        if not copy.whole:
            state.notes.append("the program's folder is too large to be copied: what lies deep in it is linked to")
        return _compared(state, found, copy, cwd)


def _not(why: str) -> CureTried:
    return CureTried(Comparison(UNTRIED, what=why))


def _named(found: Finding) -> str:
    return f"{found.location.file}:{found.location.line} {found.rule}"


def _compared(state: Tracing, found: CureTried, copy: Copy, cwd: Path) -> CureTried:
    """Two cured runs or more, and as many of the program as it is where there is time for them."""
    program, conditions = _inside(state.program, copy, cwd)
    seconds = MARGIN * max(one.ended.seconds for one in state.runs[:2])
    if state.clock.left < 2 * seconds:
        return found._replace(comparison=Comparison(UNTRIED, what="no time was left: --time"))
    cured: list[Run] = []
    pairs: list[tuple[Run, Run]] = []
    for block in range(_BLOCKS):
        state.watch(f"do cured runs differ? {block + 1}")
        if state.clock.left < 2 * seconds * max(1, 2 - block):
            break
        plain, other = _pair(state, program, conditions, block)
        cured.append(other)
        pairs.append((plain, other))
        if not other.whole:
            what = _as_known(f"with the patches a run {compare.ending(other)}", copy)
            return found._replace(comparison=Comparison(FAILED, what=what))
    while len(cured) < 2:
        cured.append(_run(state, program, conditions, len(cured)))
    compared = compare.compared(cured)
    price = cost(pairs) if all(one.whole for one, _ in pairs) else None
    if price is None:
        return found._replace(comparison=compared)
    return found._replace(
        comparison=compared, cost=(price.ratio, price.low, price.high), blocks=price.pairs, timed=price.of
    )


def _pair(state: Tracing, program: Program, conditions: Conditions, number: int) -> tuple[Run, Run]:
    """A run as the program is and a cured one; in every other block the cured one comes first."""
    plain = Conditions(LIGHT, _PLAIN)
    if number % 2:
        other = _run(state, program, conditions, number)
        return _run(state, state.program, plain, number), other
    return _run(state, state.program, plain, number), _run(state, program, conditions, number)


def _run(state: Tracing, program: Program, conditions: Conditions, number: int) -> Run:
    state.runs.append(run(program, state.settings, conditions, number, state.clock.left))
    return state.runs[-1]


def _inside(program: Program, copy: Copy, cwd: Path) -> tuple[Program, Conditions]:
    """The program as it is run in the copy; folders that ``PYTHONPATH`` names are those of the copy, too."""
    here = copy.path(cwd)
    words = program.words
    if here == cwd:
        words = tuple(str(copy.path(Path(one))) if Path(one).is_file() else one for one in words)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    env = {"PYTHONPATH": os.pathsep.join(str(copy.path(Path(one))) if one else "" for one in paths)}
    roots = tuple(str(copy.path(Path(one))) for one in program.roots)
    changed = program._replace(words=words, roots=roots, cwd=str(here))
    return changed, Conditions(LIGHT, _CURED, (), env if "PYTHONPATH" in os.environ else {})


def _as_known(text: str, copy: Copy) -> str:
    """A text of the program with the user's paths."""
    return text.replace(str(copy.folder), str(copy.top))
