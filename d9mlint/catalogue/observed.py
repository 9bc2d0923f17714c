"""Files of evidence, as ``d9mlint verify --record`` writes them: the user's, and the project's own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from d9mlint.catalogue.files import rules_folder
from d9mlint.model import OUTCOMES, CatalogueError, Parting, Record, Tally, UsageError
from d9mlint.model.trace import KINDS, PART

_T = TypeVar("_T")
_LARGEST = 2**27
_SCHEMA = 1
_MODES = ("det-mode-fixes", "det-mode-leaks", "det-mode-raises", "not-reproduced", "not-run")
_KINDS: Mapping[type, str] = {str: "text", int: "a number", dict: "an object", list: "a list"}


class _Bad(Exception):
    """What is wrong in a file of evidence; begins with the key."""


def evidence_folder() -> Path:
    """Where the project keeps its own evidence."""
    return rules_folder() / "evidence"


def own_records(folder: Path | None = None, devices: Iterable[str] = ("cpu", "gpu")) -> tuple[Record, ...]:
    """The project's own evidence about these devices, file by file; the names of the files begin with the device.

    Raises:
        CatalogueError: a file is damaged; the text names file and key.
    """
    found: list[Record] = []
    home = folder or evidence_folder()
    for path in (path for device in sorted(devices) for path in sorted(home.glob(f"{device}-*.json"))):
        name = f"rules/evidence/{path.name}"
        try:
            found += _records(_loaded(path), name, True)
        except _Bad as error:
            raise CatalogueError(f"{name}:1: not a file of evidence: {error}") from None
    return tuple(found)


def read_records(files: Sequence[tuple[Path, str]]) -> tuple[Record, ...]:
    """The records in files that the user named, each with the name that reports show; equal ones are kept once.

    A report of `trace` is evidence, too, but has none of these: `read_partings`.

    Raises:
        UsageError: a file is not there or is no evidence; the text names file and key.
    """
    return _read(files, lambda data, name: [] if _is_trace(data) else _records(data, name, False))


def read_partings(files: Sequence[tuple[Path, str]]) -> tuple[Parting, ...]:
    """What reports of `trace` among these files have seen, where a finding explains it.

    Raises:
        UsageError: a file is not there or is no evidence; the text names file and key.
    """
    return _read(files, lambda data, name: _partings(data, name) if _is_trace(data) else [])


def _read(files: Sequence[tuple[Path, str]], take: Callable[[Any, str], Iterable[_T]]) -> tuple[_T, ...]:
    """What is taken of the contents of each file, which go by the name that reports show; equal ones once."""
    found: list[_T] = []
    for path, name in files:
        try:
            found += take(_loaded(path), name)
        except _Bad as error:
            raise UsageError(f"{name}: not a file of evidence: {error}") from None
    return tuple(dict.fromkeys(found))


def _is_trace(data: Any) -> bool:
    return isinstance(data, dict) and "culprits" in data


def _partings(data: Mapping[str, Any], file: str) -> Iterator[Parting]:
    if data.get("schema") != _SCHEMA:
        raise _Bad(f"schema: expected {_SCHEMA}, as `d9mlint trace --format json` writes")
    machine, program = _of(data, "environment", dict, ""), _shown(_of(data, "program", str, ""))
    step = None if data.get("step") is None else _of(data, "step", int, "")
    versions = _of(machine, "versions", dict, "environment.").items()
    known = tuple(sorted((_shown(name), _shown(str(value))) for name, value in versions))
    where = ", ".join([_optional(machine, "cpu", "environment."), *(f"{name} {value}" for name, value in known)])
    for number, one in enumerate(_of(data, "culprits", list, "")):
        at = f"culprits[{number}]."
        if not isinstance(one, dict):
            raise _Bad(f"{at[:-1]}: expected an object")
        finding = _optional(one, "finding", at)
        if finding and data.get("verdict") == PART:
            yield Parting(
                finding, _shown(_of(one, "path", str, at)), _of(one, "line", int, at), _shown(_of(one, "op", str, at)),
                _word(one, "kind", KINDS, at), _optional(one, "note", at), program, step, where, _device(machine),
                known, file,
            )  # fmt: skip


def _device(machine: Mapping[str, Any]) -> str:
    """Where the program computed: what its frameworks said when it ended; empty where none did."""
    settings = machine.get("settings")
    several = settings.values() if isinstance(settings, dict) else ()
    devices = [str(one["device"]) for one in several if isinstance(one, dict) and one.get("device")]
    return "" if not devices else "cpu" if all(one == "cpu" for one in devices) else "gpu"


def about(op: str, records: Iterable[Record]) -> list[Record]:
    """The records of one op: the user's before the project's own, what says most first."""
    return sorted((one for one in records if one.op == op), key=lambda one: (one.own, one.strength))


def _loaded(path: Path) -> Any:
    try:
        if not path.is_file():
            raise _Bad("no such file" if not path.exists() else "not a regular file")
        if path.stat().st_size > _LARGEST:
            raise _Bad(f"larger than {_LARGEST >> 20} MiB")
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # among them that it is not UTF-8, or that a path cannot exist
        raise _Bad(f"cannot be read as JSON: {getattr(error, 'strerror', None) or error}") from None
    except RecursionError:
        raise _Bad("nested too deeply") from None


def _records(data: Any, file: str, own: bool) -> Iterator[Record]:
    """The records of a whole file; it is either all right or an error."""
    if not isinstance(data, dict):
        raise _Bad("expected a JSON object")
    if data.get("schema") != _SCHEMA:
        raise _Bad(f"schema: expected {_SCHEMA}, as `d9mlint verify --record` writes")
    machine, date = _of(data, "environment", dict, ""), _optional(data, "date", "")
    for number, one in enumerate(_of(data, "evidence", list, "")):
        where = f"evidence[{number}]"
        if not isinstance(one, dict):
            raise _Bad(f"{where}: expected an object")
        yield _record(one, where + ".", machine, date, file, own)


def _record(one: Mapping[str, Any], at: str, machine: Mapping[str, Any], date: str, file: str, own: bool) -> Record:
    framework = _of(one, "framework", str, at)
    facts = _of(machine, framework, dict, "environment.") if framework in machine else {}  # none: it never started
    versions = _of(facts, "versions", dict, f"environment.{framework}.") if facts else {}
    device = _word(one, "device", ("cpu", "gpu", ""), at)
    hardware = _optional(machine, "cpu", "environment.")
    if device == "gpu":
        used = facts.get("used")  # of older reports: all that were seen
        gpus = (
            [used.get("name", "GPU")]
            if isinstance(used, dict)
            else _of(facts, "gpus", list, f"environment.{framework}.")
        )
        hardware = _shown(", ".join(dict.fromkeys(map(str, gpus))))
    return Record(
        op=_of(one, "op", str, at), framework=_shown(framework),
        version=_shown(str(versions.get(framework, "of unknown version"))),
        verdict=_word(one, "verdict", OUTCOMES, at), device=device, hardware=hardware,
        cores=_of(machine, "cores", int, "environment."),
        versions=tuple(sorted((_shown(name), _shown(str(value))) for name, value in versions.items())),
        case=_optional(one, "case", at), direction=_optional(one, "direction", at),
        execution=_optional(one, "execution", at), dtype=_optional(one, "dtype", at),
        deterministic_mode=_word(one, "deterministic_mode", _MODES, at),
        runs=_of(one, "runs", int, at), distinct=_of(one, "distinct", int, at),
        differing=_of(one, "differing", int, at),
        max_ulp=None if one.get("max_ulp") is None else _of(one, "max_ulp", int, at),
        most=_most(one, "threads", at), leaked=_most(one, "deterministic_threads", at),
        note=_optional(one, "note", at), date=date, file=file, own=own,
    )  # fmt: skip


def _most(one: Mapping[str, Any], key: str, at: str) -> Tally | None:
    """The tally with the largest share of differing runs."""
    found = []
    for number, tally in enumerate(_of(one, key, list, at)):
        here = f"{at}{key}[{number}]"
        if not isinstance(tally, dict):
            raise _Bad(f"{here}: expected an object")
        threads = 0 if tally.get("threads") == "default" else _of(tally, "threads", int, here + ".")
        counts = [_of(tally, name, int, here + ".") for name in ("processes", "runs", "distinct", "differing")]
        found.append(Tally(threads, *counts))
    return max(found, key=lambda tally: (tally.differing / max(tally.runs, 1), tally.threads), default=None)


def _of(data: Mapping[str, Any], key: str, kind: type, at: str) -> Any:
    """The value of a key that must be there, of this type; numbers are whole and not negative."""
    if key not in data:
        raise _Bad(f"{at}{key}: missing")
    value = data[key]
    if not isinstance(value, kind) or isinstance(value, bool) or (isinstance(value, int) and value < 0):
        raise _Bad(f"{at}{key}: expected {_KINDS[kind]}, got {_quoted(value)}")
    return value


def _optional(data: Mapping[str, Any], key: str, at: str) -> str:
    return "" if data.get(key) is None else _shown(_of(data, key, str, at))


def _shown(text: str) -> str:
    """On one line, with what does not print escaped: evidence may come from anywhere."""
    line = " ".join(text.split())
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in line)


def _word(data: Mapping[str, Any], key: str, allowed: Sequence[str], at: str) -> str:
    value = "" if key in data and data[key] is None else _of(data, key, str, at)
    if value not in allowed:
        raise _Bad(f"{at}{key}: expected one of {', '.join(filter(None, allowed))}, got {_quoted(value)}")
    return str(value)


def _quoted(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else f"{text[:57]}..."
