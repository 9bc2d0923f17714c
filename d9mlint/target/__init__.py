"""Which framework versions a program is judged for, and why.

In this order: ``--target``, the config, the files beside the entry and in the folders above it up to the root, the
image that a Dockerfile there starts from, the newest release known. The nearest folder that states a range sets the
limits; the nearest exact version within them is taken (the lock file of a workspace above, the image that the
requirements are installed into; pip's requirements only of packages that none of those nearer to the entry name), else
the newest known release within them that the code can run on (a program that uses ``tf.contrib`` is not one for
TensorFlow 2) and that the README names, where it names one. A CUDA that is pinned is a range: that of the releases
built for it.

The ``keras`` of a target is what ``tf.keras`` is, unless the project pins the package of that name: before TensorFlow
2.16 such a pin says nothing about ``tf.keras``, from 2.16 on both are the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from d9mlint.model import NEWEST, ConfigError, Limit, Package, Target, UsageError
from d9mlint.target.cuda import CUDA
from d9mlint.target.files import Folder, Tree, is_requirements, read_folder
from d9mlint.target.known import (
    BOUND_BY_PYTHON,
    KNOWN,
    implied,
    newest,
    newest_python,
    package_name,
    satisfies,
    tensorflow_of_keras,
    used,
    without_python,
)
from d9mlint.target.ngc import Image, ngc_image
from d9mlint.target.pins import Pin, exact, parse

__all__ = ["KNOWN", "Resolver", "resolve", "used"]

_NEWEST_PYTHON = "newest Python for"
_CONFIG = "pyproject.toml [tool.d9mlint]"


class _Wish(NamedTuple):
    """What ``--target`` or the config says about one package."""

    specifier: SpecifierSet
    version: str
    """The one version allowed; empty for a range."""
    reason: str
    ngc: str = ""


class _Choice(NamedTuple):
    version: str
    reason: str
    ngc: str = ""


class Resolver:
    """Targets of entries; every folder is read once, as a tree may hold hundreds of entries."""

    def __init__(self, requirements: Sequence[str], config: Sequence[str], root: Path, device: str) -> None:
        try:
            wishes = _wishes(config, _CONFIG)
        except ValueError as error:
            raise ConfigError(f"{_CONFIG} target {error}") from None
        try:
            self._wishes = {**wishes, **_wishes(requirements, "--target")}
        except ValueError as error:
            raise UsageError(f"--target {error}") from None
        self._root = _absolute(root)
        self._device = device
        self._folders: dict[tuple[Path, Tree], Folder] = {}
        self._targets: dict[tuple[Path, tuple[Limit, ...]], Target] = {}

    def target(self, entry: Path, limits: Sequence[Limit] = ()) -> Target:
        """The versions that the program starting in ``entry`` is judged for.

        ``limits`` are what its code shows; they count where nothing states one version.
        """
        key = (_absolute(entry).parent, tuple(limits))
        if key not in self._targets:
            self._targets[key] = _target(self._wishes, self._above(key[0]), self._device, limits)
        return self._targets[key]

    def _above(self, start: Path) -> list[Folder]:
        """The folders from ``start`` up to the root; an entry outside of the root has only its own."""
        top = self._root
        if not start.is_relative_to(top):
            resolved = start.resolve()
            start, top = (resolved, top.resolve()) if resolved.is_relative_to(top.resolve()) else (start, start)
        tree = Tree(self._root, top.resolve())
        path, found = start, [self._read(start, tree)]
        while path != top:
            path = path.parent
            found.append(self._read(path, tree))
        return found

    def _read(self, path: Path, tree: Tree) -> Folder:
        key = (path, tree)
        if key not in self._folders:
            self._folders[key] = read_folder(path, tree)
        return self._folders[key]


def _absolute(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))  # not resolve(): paths stay as the user sees them


def resolve(requirements: Sequence[str], config: Sequence[str], entry: Path, root: Path, device: str) -> Target:
    """The target of one entry; for several entries of a tree keep a `Resolver`."""
    return Resolver(requirements, config, root, device).target(entry)


def _wishes(texts: Iterable[str], reason: str) -> dict[str, _Wish]:
    """What was asked for, by package; several requirements for one package hold together."""
    specifiers: dict[str, SpecifierSet] = {}
    wishes: dict[str, _Wish] = {}
    for text in texts:
        requirement = parse(text)
        if requirement is None or requirement.url:
            raise ValueError(f"{text!r}: not a requirement such as 'tensorflow==2.4.1'")
        name = package_name(requirement.name)
        specifiers[name] = specifiers.get(name, SpecifierSet()) & requirement.specifier
        version, ngc = exact(specifiers[name])
        if not version and newest(name, specifiers[name]) is None:
            raise ValueError(f"{text!r}: {_unsatisfied(name)}")
        wishes[name] = _Wish(specifiers[name], version, reason, ngc)
    return wishes


def _unsatisfied(name: str) -> str:
    releases = KNOWN.get(name)
    if not releases:
        return f"no releases of {name} are known here; give one exactly, as in '{name}==1.0'"
    return f"no known release of {name} ({releases[0]} to {releases[-1]}) fits"


def _target(
    wishes: Mapping[str, _Wish], folders: Sequence[Folder], device: str, limits: Sequence[Limit] = ()
) -> Target:  # fmt: skip
    pythons = _pythons(wishes, folders)
    pins = list(_own([pin for pin in folder.pins if pin.holds(pythons)] for folder in folders))
    python = _python_of_code(_python(wishes, pins) or _named_python(folders), limits)
    limits = [*limits, *_of_python(python)]
    limits += _of_readme(folders, limits)
    limits += _of_keras(wishes, pins, limits)
    images, choices = _images(wishes, folders)
    in_images = {
        name: [_Choice(v, image.where, image.ngc) for image in images if image.package == name for v in image.versions]
        for name in ("tensorflow", "torch")
    }
    tensorflow = _choose(
        "tensorflow", wishes.get("tensorflow"), pins, in_images["tensorflow"], limits, asked="ngc" in wishes
    )
    choices["tensorflow"] = tensorflow
    if tensorflow.ngc and "ngc" not in choices:
        choices["ngc"] = _Choice(tensorflow.ngc, tensorflow.reason)
    for name in sorted({*KNOWN, *wishes} - {"ngc", "tensorflow"}):
        follows = implied(name, tensorflow.version)
        if name == "python" and python is not None:
            follows = (python.version, python.reason)
        others = [_Choice(*follows)] if follows else in_images.get(name, [])
        choices[name] = _choose(name, wishes.get(name), pins, others, limits)
    packages = {name: Package(choices[name].version, choices[name].reason) for name in sorted(choices)}
    return Target(packages, device)


def _own(folders: Iterable[list[Pin]]) -> Iterator[list[Pin]]:
    """The versions that folders state, nearest first: without those of requirements whose package nearer ones name."""
    named: set[str] = set()
    for folder in folders:
        yield [pin for pin in folder if pin.specifier and not (pin.name in named and is_requirements(pin.group))]
        named |= {pin.name for pin in folder if is_requirements(pin.group)}


def _python(wishes: Mapping[str, _Wish], pins: Sequence[Sequence[Pin]]) -> _Choice | None:
    """The newest Python that all packages run on whose version is stated; None where none is."""
    said = wishes.get("python") or next((p for folder in pins for p in folder if p.name == "python"), None)
    if said is not None:
        where = said.reason if isinstance(said, _Wish) else said.where
        newest_allowed = said.version or newest("python", said.specifier)
        return _Choice(newest_allowed, where) if newest_allowed not in (None, KNOWN["python"][-1]) else None
    found: list[_Choice] = []
    for name in ("tensorflow", "torch", "numpy"):
        stated = wishes.get(name) or next((p for folder in pins for p in folder if p.name == name and p.version), None)
        python = newest_python(name, stated.version) if stated is not None and stated.version else None
        if stated is not None and python is not None:
            found.append(_Choice(python, f"{_NEWEST_PYTHON} {name} {stated.version}"))
    return min(found, key=lambda one: Version(one.version), default=None)


def _named_python(folders: Sequence[Folder]) -> _Choice | None:
    """The Python that the nearest README names."""
    found = (one for folder in folders for one in folder.named if one.package == "python")
    for limit in found:
        version = newest("python", SpecifierSet(limit.specifier))
        if version is not None:
            return _Choice(version, limit.reason)
    return None


def _python_of_code(stated: _Choice | None, limits: Sequence[Limit]) -> _Choice | None:
    """The Python that the code is written for, where nothing but the releases of packages says more."""
    if stated is not None and not stated.reason.startswith(_NEWEST_PYTHON):
        return stated
    shown = ((newest("python", SpecifierSet(one.specifier)), one.reason) for one in limits if one.package == "python")
    found = [_Choice(version, reason) for version, reason in shown if version is not None]
    return min([*found, *([stated] if stated else [])], key=lambda one: Version(one.version), default=None)


def _of_readme(folders: Sequence[Folder], limits: Sequence[Limit]) -> Iterator[Limit]:
    """What the nearest README says of each package, where the code can run on it."""
    told: set[str] = set()
    for limit in (one for folder in folders for one in folder.named):
        code = _of_code(limit.package, limits)
        if limit.package not in told and newest(limit.package, code & SpecifierSet(limit.specifier)) is not None:
            told.add(limit.package)
            yield limit


def _of_python(python: _Choice | None) -> Iterator[Limit]:
    """What the Python of a program says about packages whose version nothing states."""
    for name in BOUND_BY_PYTHON:
        first = without_python(name, python.version) if python else None
        if python is not None and first is not None:
            yield Limit(name, f"<{first}", f"newest release for Python {python.version}")


def _of_code(package: str, limits: Sequence[Limit]) -> SpecifierSet:
    """The releases of a package that fit all that is known of it so far."""
    return SpecifierSet(",".join(one.specifier for one in limits if one.package == package))


def _of_keras(
    wishes: Mapping[str, _Wish], pins: Sequence[Sequence[Pin]], limits: Sequence[Limit]
) -> Iterator[Limit]:  # fmt: skip
    """What the stated release of a package ``keras`` says about TensorFlow, whose own release nothing states."""
    stated = _choose("keras", wishes.get("keras"), pins, []).version
    named = next((one for one in limits if one.package == "keras" and one.specifier.startswith("==")), None)
    for version in (stated, newest("keras", SpecifierSet(named.specifier)) if named else None):
        if version in (None, KNOWN["keras"][-1]):
            continue
        bound = tensorflow_of_keras(version or "")
        if bound and newest("tensorflow", _of_code("tensorflow", limits) & SpecifierSet(bound)) is not None:
            yield Limit("tensorflow", bound, f"newest release for keras {version}")
        return


def _images(wishes: Mapping[str, _Wish], folders: Sequence[Folder]) -> tuple[list[Image], dict[str, _Choice]]:
    """The images to take frameworks from, nearest first, and ``ngc`` where it was asked for."""
    wish = wishes.get("ngc")
    if wish is None:
        return [image for folder in folders for image in folder.images], {}
    year, month, *_ = [*(wish.version or newest("ngc", wish.specifier) or "").split("."), "1"]
    release = f"{year}.{month:>02}"
    image = ngc_image(release, "", f"{wish.reason} (NGC {release})")
    return [image], {"ngc": _Choice(release, wish.reason)}


def _pythons(wishes: Mapping[str, _Wish], folders: Sequence[Folder]) -> list[str]:
    """The Pythons that the project may run on, for environment markers; all that are known where it does not say."""
    wish = wishes.get("python")
    said = wish or next((pin for folder in folders for pin in folder.pins if pin.name == "python"), None)
    if said and said.version:
        return [said.version]
    allowed = [v for v in KNOWN["python"] if said is None or satisfies("python", v, said.specifier)]
    return allowed or list(KNOWN["python"])


def _choose(
    name: str,
    wish: _Wish | None,
    pins: Sequence[Sequence[Pin]],
    others: Sequence[_Choice],
    limits: Sequence[Limit] = (),
    asked: bool = False,
) -> _Choice:
    """The version of one package. ``others``: what an image or another package brings; ``asked``: by the user."""
    if wish and wish.version:
        return _Choice(wish.version, wish.reason, wish.ngc)
    if wish:
        fitting = [c for c in others if asked and satisfies(name, c.version, wish.specifier)]
        return fitting[0] if fitting else _Choice(newest(name, wish.specifier) or KNOWN[name][-1], wish.reason)
    limits = [one for one in limits if one.package == name]
    mine = [[pin for pin in folder if pin.name == name] for folder in pins]
    if not (limits or others or any(mine)):  # so it is with most packages
        return _Choice(KNOWN[name][-1], NEWEST)
    if asked and others:  # an image that was asked for; the files may tell whether its tf1 or its tf2 is meant
        fitting = [c for folder in mine for pin in folder for c in others if satisfies(name, c.version, pin.specifier)]
        return [*fitting, *others][0]
    return _stated(name, mine, others, limits)


def _stated(
    name: str, pins: Sequence[Sequence[Pin]], others: Sequence[_Choice], limits: Sequence[Limit]
) -> _Choice:  # fmt: skip
    """The version that the files state, nearest folder first, else one that comes with something else.

    Else the newest that the code can run on.
    """
    limit, where = SpecifierSet(), ""
    for folder in pins:
        for pin in folder:
            if pin.version and satisfies(name, pin.version, limit):
                return _Choice(pin.version, pin.where, pin.ngc)
        if not where:
            limit, where = _narrow(name, [pin for pin in folder if not pin.version])
    for choice in others:
        if satisfies(name, choice.version, limit):
            return choice
    # What came with a release tells more than what went with it, which code that no longer runs may still have.
    limit_of_new = SpecifierSet(",".join(one.specifier for one in limits if one.specifier.startswith(">=")))
    shown = [
        (newest(name, limit & SpecifierSet(one.specifier)), one.reason) for one in limits
        if newest(name, SpecifierSet(one.specifier) & limit_of_new) is not None
    ]  # fmt: skip
    allowed = newest(name, limit) or KNOWN[name][-1]
    tighter = [_Choice(version, reason) for version, reason in shown if version not in (None, allowed)]
    return min(tighter, key=lambda one: Version(one.version), default=_Choice(allowed, where or NEWEST))


def _narrow(name: str, ranges: Sequence[Pin]) -> tuple[SpecifierSet, str]:
    """The ranges of the first file (with the files it includes) taken together, as far as a known release fits."""
    limit, where = SpecifierSet(), ""
    first = [pin for pin in ranges if pin.group == ranges[0].group]
    for pin in sorted(first, key=lambda pin: pin.told_by == CUDA):  # what is stated counts more than what follows
        together = limit & pin.specifier
        found = newest(name, together)
        if found is not None:
            where = pin.where if pin.told_by != CUDA or found != newest(name, limit) else where
            limit = together
    return limit, where
