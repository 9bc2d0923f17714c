"""``d9mlint kernels --fix``: PyTorch's alert before the kernels that vary, proven by a scan before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from d9mlint.app.kernels.scan import KernelOutcome
from d9mlint.app.options import Options, shown
from d9mlint.kernels import tree
from d9mlint.kernels.alerts import alerts, patched
from d9mlint.kernels.listing import Listing, listing
from d9mlint.model import KernelScan, Location, UsageError
from d9mlint.report.words import count

_SHOWN = 10
_UNPROVEN = "the alert did not come to stand before the kernel on every way"


class _Patch(NamedTuple):
    """New contents by path, those before, the sites that are guarded then, and the others with the reason."""

    after: Mapping[str, bytes]
    before: Mapping[str, bytes]
    sites: frozenset[Location]
    without: Mapping[Location, str]


def fixed(options: Options, outcome: KernelOutcome, *, write: bool) -> tuple[str, str]:
    """The diff of what is (or, without ``write``, would be) changed, and what to say about it.

    Raises:
        UsageError: what is scanned is not one folder.
    """
    from d9mlint import fix

    folder = options.paths[0]
    if len(options.paths) != 1 or not folder.is_dir():
        raise UsageError("--fix and --diff want one folder, that of the project")
    patch = _patch(listing(folder), shown(folder, Path.cwd()), outcome)
    refused: list[str] = []
    for path, data in sorted(patch.after.items()) if write else ():
        try:
            fix.write(Path.cwd() / path, data, [folder], patch.before[path])
        except fix.CannotWrite as error:
            refused.append(f"{path}: not fixed: {error}")
    return fix.unified(patch.before, patch.after), "\n".join([*refused, *_told(patch, write=write)])


def _told(patch: _Patch, *, write: bool) -> list[str]:
    verb = "inserted" if write else "would insert"
    lines = [
        f"{verb} alerts before {count(len(patch.sites), 'site')} that can vary in {count(len(patch.after), 'file')}"
    ]
    left = sorted(patch.without.items())
    lines += [f"  not fixed: {at.path}:{at.line}: {why}" for at, why in left[:_SHOWN]]
    return [*lines, *([f"  ... and {len(left) - _SHOWN} more"] if len(left) > _SHOWN else [])]


def _patch(files: Listing, prefix: str, outcome: KernelOutcome) -> _Patch:
    """The alerts that a scan of the patched files shows to guard their sites; those that do not are taken back."""
    prefix = f"{prefix}/" if prefix else ""
    repository = tree.repository(files)
    before = tree.overlaid(files, {})
    kept = {site.location for site in outcome.report.open_sites}
    sites = tuple(s for s in before.sites if s.location._replace(path=prefix + s.location.path) in kept)
    made, without = alerts(before._replace(sites=sites), repository)
    after: dict[str, bytes] = {}
    while made:
        after = patched({one.path: repository.data(one.path) for one in made}, made)
        levels = _levels(before, tree.overlaid(files, after))
        good = [one for one in made if all(levels.get(at) == "throws" for at in one.sites)]
        if len(good) == len(made):
            break
        without |= {at: _UNPROVEN for one in made if one not in good for at in one.sites}
        made, after = good, {}
    done = frozenset(at for one in made for at in one.sites)
    return _Patch(
        {prefix + path: data for path, data in after.items()},
        {prefix + path: repository.data(path) for path in after},
        done,
        {at._replace(path=prefix + at.path): why for at, why in without.items() if at not in done},
    )


def _levels(before: KernelScan, after: KernelScan) -> dict[Location, str]:
    """The guards that sites have in the patched files; none of a file whose sites are others there."""
    levels: dict[Location, str] = {}
    for path in {site.location.path for site in before.sites}:
        old, new = ([s for s in scan.sites if s.location.path == path] for scan in (before, after))
        if [(s.function, s.atomic) for s in old] == [(s.function, s.atomic) for s in new]:
            levels |= {one.location: other.guard.level for one, other in zip(old, new, strict=True)}
    return levels
