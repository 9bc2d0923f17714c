"""CUDA sources that stand as strings in Python files: CuPy, PyCUDA, ``load_inline``, ``torch.cuda._compile_kernel``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.embedded import arrays
from d9mlint.kernels.embedded.formats import text_of, typedefs
from d9mlint.kernels.judging import gradients
from d9mlint.kernels.judging.judge import Judgement, judge
from d9mlint.kernels.python.files import PyFile
from d9mlint.kernels.python.words import Above, Mention, children, parents
from d9mlint.kernels.sites import atomics
from d9mlint.kernels.source.repository import Repository
from d9mlint.model import Location
from d9mlint.model.kernel import Site

_DEVICE = ("__global__", "__device__")
_ELEMENTWISE = {
    "cupy.ElementwiseKernel": (0, 1, (2,)),
    "cupy._core.ElementwiseKernel": (0, 1, (2,)),
    "cupy.ReductionKernel": (0, 1, (2, 3, 4)),
    "cupyx.jit.ElementwiseKernel": (0, 1, (2,)),
}
"""Where the parameters and the code stand (https://docs.cupy.dev/en/stable/user_guide/kernel.html)."""
_CUDA = re.compile(rb"atomic[A-Z]|__global__|__device__")
_INSTANCE = re.compile(r"(\w+)<[\w:,]+>")
_LIKE = (0, 1, (2,))
_KEYWORDS = ("in_params", "out_params", "operation", "map_expr", "reduce_expr", "post_map_expr")
NUMPY = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long",
    "float16": "half", "float32": "float", "float64": "double",
}  # fmt: skip
"""NumPy's names of types in C++."""
_PARAMETER = re.compile(r"\s*(raw\s+)?(\w+)\s+(\w+)\s*\Z")


class Piece(NamedTuple):
    """A source in a string: the text, and the line and column of its first character in the file."""

    text: str
    line: int
    column: int
    exact: bool
    """Whether the lines of the text are those of the file (no escapes, nothing glued together)."""
    rows: tuple[int, ...]
    """The line of the file in which each line of the text begins; none where that is not seen."""
    mention: Mention
    head: str = ""
    """Code to put before the text: the function that the library makes of it."""
    tail: str = ""


def may_hold(data: bytes) -> bool:
    """Whether a file may hold a CUDA source; cheap to ask."""
    return _CUDA.search(data) is not None


def sites(file: PyFile) -> Iterator[tuple[Site, Mention]]:
    """The atomics in the CUDA sources of a file, judged, each with the string it stands in."""
    for piece in pieces(file) if may_hold(file.data) else ():
        if "tomic" not in piece.text and "red." not in piece.text and "atom." not in piece.text:
            continue
        for site in _of_piece(file, piece):
            yield site, piece.mention


def pieces(file: PyFile) -> Iterator[Piece]:
    """The strings of a file that are CUDA sources, in order; documentation is none."""
    pending: list[tuple[ast.AST, Above]] = [(s, None) for s in reversed(file.tree.body)]
    while pending:
        node, above = pending.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant | ast.JoinedStr):
            continue  # documentation
        if isinstance(node, ast.Call):
            yield from _elementwise(file, node, above)
        text = text_of(node) if isinstance(node, ast.Constant | ast.JoinedStr) else ""
        if text and any(word in text for word in _DEVICE):
            yield _piece(file, node, text, Mention(_named(node), parents(above)))
        elif not isinstance(node, ast.JoinedStr | ast.Constant | ast.Name):
            inside = (node, above, 0)
            pending += [(child, inside) for child in reversed(children(node))]


def _named(node: ast.AST) -> ast.Constant:
    return node if isinstance(node, ast.Constant) else ast.copy_location(ast.Constant(value=""), node)


def _piece(file: PyFile, node: ast.AST, text: str, mention: Mention, head: str = "", tail: str = "") -> Piece:
    place = file.place(node)
    lines = file.data.splitlines()
    first = lines[place.line - 1].decode("utf-8", "replace")[place.column - 1 :] if place.line <= len(lines) else ""
    opening = re.match(r"[A-Za-z]{0,2}(\"\"\"|'''|\"|')", first)
    width = len(opening[0]) if opening is not None else 0
    exact = place.end_line - place.line == text.count("\n") and opening is not None
    rows: tuple[int, ...] = ()
    if opening is not None and not exact:
        whole = b"\n".join(lines[place.line - 1 : place.end_line]).decode("utf-8", "replace")
        rows = _rows(whole[place.column - 1 + width :], "r" in opening[0].lower(), place.line)
        rows = rows if len(rows) == text.count("\n") + 1 else ()
    tail = tail or _beside(file, text, mention)
    return Piece(text, place.line, place.column + width, exact, rows, mention, head, tail)


def _rows(written: str, raw: bool, first: int) -> tuple[int, ...]:
    """In which line of the file each line of a string begins: a line that ends in ``\\`` goes on in the next one."""
    rows = [first]
    line = first
    for match in re.finditer(r"\n" if raw else r"\\[\s\S]|\n", written):
        line += match[0].endswith("\n")
        if match[0] in ("\n", "\\n"):
            rows.append(line)
    return tuple(rows)


def _beside(file: PyFile, text: str, mention: Mention) -> str:
    """What else the file says of a source: the types that are put into it, the instances of its templates."""
    return typedefs(file, text, mention) + _instances(file, text)


def _instances(file: PyFile, text: str) -> str:
    """The instances of a source's templates that a file asks for by their names: ``name_expressions=["f<float>"]``."""
    if "template" not in text:
        return ""
    asked = sorted(w for w in file.mentions if (m := _INSTANCE.fullmatch(w)) is not None and f"{m[1]}(" in text)
    return "".join(f"\nvoid instance_{at}() {{ {name}<<<1, 1>>>(); }}" for at, name in enumerate(asked))


def _elementwise(file: PyFile, call: ast.Call, above: Above) -> list[Piece]:
    """The code of an elementwise or reduction kernel, with its parameters; of a wrapper, by what it is given."""
    layout = _ELEMENTWISE.get(file.dotted(call.func)) or (_LIKE if _is_like(call) else None)
    if layout is None:
        return []
    named = {k.arg: k.value for k in call.keywords if k.arg in _KEYWORDS}
    given = [*call.args[:5]]
    inputs = _resolved(file, named.get("in_params") or (given[layout[0]] if given else None))
    outputs = _resolved(file, named.get("out_params") or (given[layout[1]] if len(given) > 1 else None))
    codes = [given[at] for at in layout[2] if at < len(given)] + [named[k] for k in _KEYWORDS[2:] if k in named]
    parameters = _parameters(f"{text_of(inputs)},{text_of(outputs)}" if inputs and outputs else "")
    known = {name: NUMPY.get(d, d) for name, d in arrays.given(file, call, above, parameters).items()}
    parameters = [(known.get(type_, type_), name, raw) for type_, name, raw in parameters]
    types = sorted({type_ for type_, _, _ in parameters if type_[0].isupper()})
    template = f"template <{', '.join(f'typename {t}' for t in types)}> " if types else ""
    listed = ", ".join(f"{type_} *{name}{'' if raw else '_'}" for type_, name, raw in parameters)
    elements = " ".join(f"{type_} &{name} = {name}_[i];" for type_, name, raw in parameters if not raw)
    index = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
    index += "".join(f" using {name} = {type_};" for name, type_ in sorted(known.items()))
    head = f"{template}__global__ void elementwise({listed}) {{ {index} {elements}\n"
    found = []
    for code in codes:
        node = _resolved(file, code)
        if node is not None and text_of(node):
            found.append(
                _piece(file, node, text_of(node), Mention(_named(node), (*parents(above), call)), head, "\n;}")
            )
    return found


def _is_like(call: ast.Call) -> bool:
    """Whether a call is given two lists of parameters and code with an atomic, as ``ElementwiseKernel`` is."""
    texts = [text_of(argument) for argument in call.args[:3]]
    if len(texts) < 3 or "tomic" not in texts[2] or not (texts[0] or texts[1]):
        return False
    return all(_PARAMETER.match(part) for text in texts[:2] if text for part in text[:4000].split(","))


def _parameters(text: str) -> list[tuple[str, str, bool]]:
    """The parameters in ``raw float32 y, T x``: the type in C++, the name, whether the whole array is handed in."""
    found = []
    for part in text[:4000].split(","):
        match = _PARAMETER.match(part)
        if match is not None:
            found.append((NUMPY.get(match[2], match[2]), match[3], bool(match[1])))
    return found


def _resolved(file: PyFile, node: ast.expr | None) -> ast.expr | None:
    if isinstance(node, ast.Name) and node.id in file.assigned:
        return file.assigned[node.id]
    return node


def _of_piece(file: PyFile, piece: Piece) -> Iterator[Site]:
    """The judged atomics of one source, at their places in the Python file."""
    name = f"{file.path}.cu"
    data = f"{piece.head}{piece.text}{piece.tail}".encode("utf-8", "replace")
    alone = Repository([name], lambda _: data)
    above = piece.head.count("\n")
    for atomic in atomics.find(alone):
        if atomic.location.line <= above:
            continue
        found = _by_gradients(judge(atomic, alone), piece.mention)
        found = _by_arrays(found) if piece.head else found
        function = atomic.function
        inside = function is not None and not piece.head
        yield Site(
            _place(file, piece, atomic.location, above), function.label if inside and function is not None else "",
            atomic.name, atomic.intrinsic, atomic.form, function.qualifier if function is not None else "",
            found.memory, found.target_type, found.return_use, found.class_, found.verdict, found.reason,
            atomic.scope, found.implements,
        )  # fmt: skip


def _by_gradients(found: Judgement, mention: Mention) -> Judgement:
    """A judgement where only the Python around a source says that it computes gradients: ``def backward(...)``."""
    if (found.class_, found.verdict, found.return_use) != ("unknown", "conditional", "unused"):
        return found
    words: list[object] = [scope.name for scope in mention.scopes]
    for parent in mention.parents:
        if isinstance(parent, ast.Call):
            words += [a.value for a in parent.args if isinstance(a, ast.Constant)]
        elif isinstance(parent, ast.Assign):
            words += [t.id for t in parent.targets if isinstance(t, ast.Name)]
        elif isinstance(parent, ast.keyword):
            words.append(parent.arg)
    name = next((w for w in words if isinstance(w, str) and w.isidentifier() and gradients.names(w)), "")
    if not name:
        return found
    reason = f"{found.reason}; `{name}` computes gradients, which are floating point"
    return found._replace(class_="float-accumulate", verdict="yes", reason=reason)


def _by_arrays(found: Judgement) -> Judgement:
    """A judgement of an elementwise kernel, whose type parameters stand for the types of the arrays it is given."""
    if (found.class_, found.verdict) != ("unknown", "unknown") or not found.target_type:
        return found
    reason = f"{found.reason}; `{found.target_type}` is the type of the arrays that the kernel is given"
    return found._replace(verdict="conditional", reason=reason)


def _place(file: PyFile, piece: Piece, at: Location, above: int) -> Location:
    """A place in a piece as a place in the file; the line where the string begins, where its lines do not tell."""
    if piece.rows:
        first, last = (piece.rows[min(line - above, len(piece.rows)) - 1] for line in (at.line, at.end_line))
        return Location(file.path, first, 1, last, 1)
    if not piece.exact:
        return Location(file.path, piece.line, piece.column, piece.line, piece.column)
    rows = [line - above for line in (at.line, at.end_line)]
    columns = [
        column + piece.column - 1 if row == 1 else column
        for row, column in zip(rows, (at.column, at.end_column), strict=True)
    ]
    shifted = [piece.line - 1 + row for row in rows]
    return at._replace(path=file.path, line=shifted[0], column=columns[0], end_line=shifted[1], end_column=columns[1])
