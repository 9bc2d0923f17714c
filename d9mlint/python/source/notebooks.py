"""Jupyter notebooks as Python: the code cells in document order, with what is IPython's and the shell's masked.

Every line of a cell stays one line. The last line of the text is a comment of ours that says where the cells are, so
that places can be told as cell and line. Sources: nbformat.readthedocs.io (formats 3 and 4), IPython's documentation of
magics and of the ``!`` and ``?`` syntax.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from d9mlint.discover.percent import cell_lines
from d9mlint.model import Limit
from d9mlint.python.source.reading import CannotRead

_MARK = "# cells of the notebook: "
_MAGIC = re.compile(r"(\s*)(?:%(?![%\s=(])|!)")
_HELP = re.compile(r"\s*(?:\?{1,2}[\w.*]+|[\w.*]+\?{1,2})\s*$")
_ASSIGNED = re.compile(r"(\s*[\w\[\]., ]+=\s*)[!%][A-Za-z.~/]")
_ENVIRONMENT = re.compile(r"\s*%(?:env|set_env)\s+([A-Za-z_]\w*)(?:\s*=\s*|\s+)(.+?)\s*$")
_PYLAB = re.compile(r"%pylab\b(?!.*--no-import-all)")
_PYLAB_IMPORTS = (
    "import numpy, matplotlib; import numpy as np; from matplotlib import pyplot as plt; "
    "from numpy.random import *; from numpy import *; from numpy import random"
)
"""What `%pylab` brings into a notebook, as far as it matters (IPython/core/pylabtools.py, matplotlib/pylab.py)."""
_MASKED = re.compile(
    rf"(\s*)(?:import os as _os; _os\.environ\[.*?|{re.escape(_PYLAB_IMPORTS)}|pass)  # ([!%?].*|[\w.*]+\?{{1,2}}\s*)"
)
_RUNS = re.compile(r"\s*%(?:time(?: --no-raise-error)?|prun)\s+(?!-)(?P<code>\S.*?)\s*$")
"""Magics that run once what stands after them, and keep what it names."""
_RUN = re.compile(r"(\s*)(.*\S)  # (%(?:time|prun)\s.*)")
_CAUGHT = re.compile(r".*= *get_ipython\(\)  # .*")
_PYTHON_CELLS = frozenset({"time", "timeit", "capture", "prun", "px", "memray_flamegraph", "memit", "mprun", "python3"})
"""Cell magics under which the rest of the cell is Python that runs in the notebook."""
_ONCE = frozenset({"time", "capture", "prun"})
"""Those under which it runs once, and what it names is known afterwards."""
_PIP = re.compile(r"^(?:[ \t]*pass  )?# ?[!%]\s*(?:\S*python3? -m )?pip3?\s+install\s+(.+)$", re.MULTILINE)
_PIN = re.compile(r"([A-Za-z][\w-]*)(?:\[[\w,]*\])?((?:[=~]=|[<>]=?|!=)[\w.*,<>=!~]+)")
_COLAB = re.compile(r"^[ \t]*pass  # %tensorflow_version (1|2)(?:\.x)?\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number among all cells (from 1), its lines in the text, and when it was last run (0: never)."""

    number: int
    first: int
    last: int
    run: int


def python(data: bytes) -> bytes:
    """The Python text of a notebook.

    Raises:
        CannotRead: it is no notebook, or broken.
    """
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise CannotRead(f"not a notebook: not valid JSON ({str(error)[:80]})") from None
    if not isinstance(notebook, dict):
        raise CannotRead("not a notebook: no JSON object")
    lines: list[str] = []
    cells: list[Cell] = []
    for number, text, run in _code(notebook):
        first = len(lines) + 1
        lines += _masked(text)
        cells.append(Cell(number, first, len(lines), run))
    table = json.dumps([[cell.number, cell.first, cell.last, cell.run] for cell in cells])
    return "\n".join([*lines, _MARK + table, ""]).encode("utf-8", "replace")


def cells(text: str) -> tuple[Cell, ...]:
    """The cells of a text that `python` made, or of a script in percent format."""
    line = text.rstrip("\n").rpartition("\n")[2]
    if line.startswith(_MARK):
        return tuple(Cell(*entry) for entry in json.loads(line.removeprefix(_MARK)))
    return tuple(Cell(number, first, last, 0) for number, (first, last) in enumerate(cell_lines(text), 1))


def original(line: str) -> str:
    """A line as it stands in the notebook."""
    found = _MASKED.fullmatch(line)
    if found is None and _is_run(line):
        return _RUN.sub(r"\1\3", line)
    return f"{found[1]}{found[2]}" if found else line


def _is_run(line: str) -> bool:
    """Whether a line of the text is what a magic runs."""
    found = _RUN.fullmatch(line)
    return found is not None and found[3].endswith(found[2])


def idle(text: str) -> str:
    """The text with a ``pass`` for every magic, also for those that set a variable of the environment."""
    found = ((line, _MASKED.fullmatch(line)) for line in text.split("\n"))
    return "\n".join(f"{match[1]}pass  # {match[2]}" if match else line for line, match in found)


def is_masked(line: str) -> bool:
    """Whether a line of the text stands for one that is no Python."""
    return _is_run(line) or any(pattern.fullmatch(line) for pattern in (_MASKED, _CAUGHT))


def repeats(lines: Sequence[str], found: Sequence[Cell], line: int) -> str:
    """The magic under which the cell of a line runs elsewhere or several times; empty where there is none."""
    cell = cell_at(found, line)
    start = next((one for one in lines[cell.first - 1 : cell.last] if one.strip()), "") if cell else ""
    name = start.removeprefix("# ").partition(" ")[0]
    return name if start.startswith("# %%") and name[2:] not in _ONCE else ""


def cell_at(found: Sequence[Cell], line: int) -> Cell | None:
    """The cell that a line of the text belongs to."""
    return next((cell for cell in found if cell.first <= line <= cell.last), None)


def _code(notebook: dict[str, Any]) -> Iterator[tuple[int, str, int]]:
    """Number, text and run of each code cell; nothing where the notebook is in another language."""
    if _language(notebook) not in ("", "python", "ipython", "python3"):
        return
    found = notebook.get("cells")
    if found is None and isinstance(sheets := notebook.get("worksheets"), list):  # format 3
        found = [cell for sheet in sheets if isinstance(sheet, dict) for cell in _list(sheet.get("cells"))]
    if not isinstance(found, list):
        raise CannotRead("not a notebook: it has no list of cells")
    for number, cell in enumerate(found, 1):
        if not isinstance(cell, dict):
            raise CannotRead(f"broken notebook: cell {number} is no JSON object")
        if cell.get("cell_type") != "code":
            continue
        source = cell.get("source", cell.get("input", ""))
        parts = [part for part in (source if isinstance(source, list) else [source]) if isinstance(part, str)]
        if not parts and source != []:
            raise CannotRead(f"broken notebook: the source of cell {number} is no text")
        run = cell.get("execution_count", cell.get("prompt_number"))
        yield number, "".join(parts), run if isinstance(run, int) else 0


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    for name, key in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(name) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(key), str):
            return str(part[key]).lower()
    return ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


# -- IPython -------------------------------------------------------------------------------------------------------


def _masked(text: str) -> list[str]:
    """The lines of a cell as Python; a masked line is a ``pass`` with the line as its comment."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = next((line for line in lines if line.strip()), "")
    if indent := start[: len(start) - len(start.lstrip())]:  # IPython takes the first line's indentation from all
        lines = [line.removeprefix(indent) for line in lines]
        start = start.lstrip()
    if start.startswith("%%"):
        whole = start[2:].split(maxsplit=1)[:1]
        if not whole or whole[0] not in _PYTHON_CELLS:
            return [f"# {line}" for line in lines]
    continued = False
    out: list[str] = []
    for line in lines:
        magic = _MAGIC.match(line)
        if continued or line.startswith("%%"):
            out.append(f"# {line}")
        elif magic is not None:
            out.append(_magic(line, magic[1]))
        elif _HELP.fullmatch(line) and "?" in line:
            out.append(f"pass  # {line}")
        elif (assigned := _ASSIGNED.match(line)) is not None and "==" not in assigned[1]:
            out.append(f"{assigned[1]}get_ipython()  # {line.strip()}")
        else:
            out.append(line)
            continue
        continued = line.rstrip().endswith("\\")
    return out


def _magic(line: str, indent: str) -> str:
    if _PYLAB.match(line):
        return f"{_PYLAB_IMPORTS}  # {line.strip()}"
    if (timed := _RUNS.match(line)) is not None and _is_statement(timed["code"]):
        return f"{indent}{timed['code']}  # {line.strip()}"
    found = _ENVIRONMENT.match(line)
    if found is not None and not re.search(r"[$`{]", found[2]):
        value = found[2].strip("\"'") if found[2][0] in "\"'" else found[2]
        return f"{indent}import os as _os; _os.environ[{found[1]!r}] = {value!r}  # {line.strip()}"
    return f"{indent}pass  # {line.strip()}"


def _is_statement(code: str) -> bool:
    """Whether a line holds a whole statement of Python."""
    from d9mlint.python.source.parsing import python_tree  # most notebooks need no parser before they are checked

    try:
        python_tree(code.encode())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def installed(text: str, path: str) -> Iterator[Limit]:
    """What ``!pip install NAME==VERSION`` and Colab's ``%tensorflow_version`` say about releases.

    In scripts in percent format they are comments, as jupytext writes them.
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    from d9mlint.target.known import package_name

    found = cells(text)
    for match in _PIP.finditer(text):
        for name, specifier in _PIN.findall(match[1].replace('"', "").replace("'", "")):
            try:
                SpecifierSet(specifier)
            except InvalidSpecifier:
                continue
            yield Limit(package_name(name), specifier, _reason(text, path, found, match.start()))
    for match in _COLAB.finditer(text):
        limit = "<2.0" if match[1] == "1" else ">=2.0"
        yield Limit("tensorflow", limit, _reason(text, path, found, match.start()))


def _reason(text: str, path: str, found: Sequence[Cell], offset: int) -> str:
    line = text.count("\n", 0, offset) + 1
    cell = cell_at(found, line)
    return f"{path}:cell {cell.number}:{line - cell.first + 1}" if cell else f"{path}:{line}"
