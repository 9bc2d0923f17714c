"""Hides from the C++ grammar what CUDA and its users add to the language; every byte keeps its place."""

from __future__ import annotations

import itertools
import re

from d9mlint.kernels.sites.presence import in_assembler

# Two patterns, since each then starts with letters by which the search skips ahead, or is not needed.
_WORDS = re.compile(
    rb"__(?<!\w__)(?:global__|device__|host__|shared__|constant__|managed__|forceinline__|noinline__|inline__"
    rb"|grid_constant__|restrict__|restrict"
    rb"|(?:launch_bounds__|align__|maxnreg__|cluster_dims__|block_size__)"
    rb"\s*\([^()]*(?:\([^()]*\)[^()]*){0,8}\))"
)
_MACROS = re.compile(
    rb"\b(?:RESTRICT|[A-Z0-9]*_?(?:EIGEN|C10|CUTLASS|CUTE|GPU|TF|AT|PD|MMCV)_(?:[A-Z0-9]+_)*"
    rb"(?:(?:FUNC|INLINE|HOST|DEVICE|HOST_DEVICE|STRONG_INLINE|ALWAYS_INLINE|LAMBDA)\b"
    rb"|LAUNCH_BOUNDS_[0-9]\s*\([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*){0,4}\)[^()]*){0,4}\)))"
)
_MACRO_WORDS = (b"RESTRICT", b"_FUNC", b"INLINE", b"_HOST", b"_DEVICE", b"_LAMBDA", b"_LAUNCH_BOUNDS_")
"""What stands in every name of ``_MACROS``."""
_PORTABLE = re.compile(rb"\bKOKKOS_(?:(?:IMPL_)?(?:[A-Z]+_)*FUNCTION|(?:CLASS_)?LAMBDA)\b")
"""Kokkos' words before a function, and for what a lambda captures; its headers are seldom at hand."""
_EXPORTS = (b"_EXPORT", b"_API", b"_PUBLIC", b"_DLL")
_EXPORTED = re.compile(rb"(?<=class )[A-Z][A-Z0-9_]*(?:_EXPORT|_API|_PUBLIC|_DLL)S?(?=\s+\w)")
"""A macro before the name of a class that a library exports, which the grammar takes for its name."""
_MADE = re.compile(rb"typename(?=\s+(?:\w+\s*::\s*)+\w+\s*\{)")
"""Before the type of an object that is made in an expression (``f(typename Op::Arguments{.n = 1})``)."""
_POINTER_CAST = re.compile(rb"(?<=[(,=\s])\(\s*(?:\w+\s*::\s*)*\w*_ptr\s*<[^<>();]*>\s*\)(?=\s*[&(\w])")
"""A cast to a class of pointers (``(sycl::global_ptr<T>)&x[i]``), which the grammar takes for an operand."""
_REFERS = re.compile(
    rb"(\w*atomic_ref\w*\s*<[^;{}()]{1,400}>\s*\w+\s*)\(([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*){0,8})\)(?=\s*;)"
)
"""``atomic_ref<T> x(cells[i]);``: to the grammar the head of a function that takes an array of the type ``cells``."""
_TEMPLATED = re.compile(rb"\{%.*?%\}|\{#.*?#\}|\{\{[^{}\n]*\}\}", re.DOTALL)
_NO_NAME = re.compile(rb"\W")
_KEYWORD = re.compile(rb"namespace\s")
_ALONE = re.compile(rb"^[ \t]*_*[A-Z][A-Z0-9_]*[ \t]*\r?\n\s*(?:inline\s+)?\Z", re.MULTILINE)
_ALONE_NAME = re.compile(rb"[A-Z_]\w*")
_OPENING = re.compile(rb"[ \t]*_*[A-Z]\w*[ \t\r]*")
_MAX_APART = 200
_ASSEMBLER = re.compile(
    rb'\b(?:asm|__asm__|__asm)\b\s*(?:volatile\b|__volatile__\b)?\s*\((?:[^;"]|"(?:[^"\\\n]|\\.)*"){0,4000};'
)
_CONSTRAINT = re.compile(rb"([:,]\s*)([A-Z_]\w{2,})(?=\s*\()")
"""A macro for the constraint of an operand: ``: __PTR(p)``."""
_LISTED = re.compile(
    rb"\((?:[^(){};]|(?<=defined)\(\w+\))*?\n[ \t]*#[ \t]*(?:if|ifdef|ifndef)\b(?:[^(){};]|(?<=defined)\(\w+\))*\)"
)
"""A list of parameters with conditions in it, which no grammar reads: both branches stay, without the conditions."""
_NO_BODY = re.compile(rb"(#[ \t]*define[ \t]+\w+[ \t])[ \t]([ \t]*)$", re.MULTILINE)
"""A macro whose body was hidden: with blanks alone behind its name, the grammar takes the next line for its body."""
_MAKING = re.compile(
    rb"^(?:[A-Z][A-Z0-9_]{3,}\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*){0,8}\)[ \t]*\r?\n\s*)+"
    rb"(?=(?:PYBIND11_MODULE|TORCH_LIBRARY\w*|NB_MODULE)\b)",
    re.MULTILINE,
)
"""Macros that make functions, without semicolons: the grammar takes the library behind them for a part of them."""
_MACRO = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Z][A-Z0-9_]{2,})\((?:[^\n\\]|\\\r?\n|\\.)*?[};][ \t]*(?:\\\r?\n[ \t]*)?\r?$",
    re.MULTILINE,
)
"""A macro whose body is whole statements."""
_UNROLLED = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+(?:no)?unroll[^\n\\]*$", re.MULTILINE)
"""Between the head of a loop and its body it is no statement."""
_PRIMITIVE = re.compile(rb"\b(?:double|float|unsigned|signed|int|long|short|char|bool|void)\b")
_PARENTHESISED = rb"(?:[^();\"]|\"(?:[^\"\\\n]|\\.)*\")*"
_ASSERTION = re.compile(
    rb"\b[A-Z0-9_]*STATIC_ASSERT[A-Z0-9_]*\s*\("
    + _PARENTHESISED
    + (rb"(?:\(" + _PARENTHESISED) * 3
    + (rb"\)" + _PARENTHESISED + rb"){0,20}") * 3
    + rb"\)(?=\s*;)"
)
"""An assertion of an own macro: among the members of a class it is no C++, and the grammar loses where that ends."""
_SAID = re.compile(rb'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){1,4}\'', re.DOTALL)
_CONDITION_LINE = re.compile(rb"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b[^\n]*", re.MULTILINE)
_EARLIER = re.compile(
    rb"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n]*\n(?:(?![ \t]*#)[^\n]*\n)*(?=[ \t]*#[ \t]*(?:elif|else)\b)",
    re.MULTILINE,
)
"""A branch that another one follows."""
_TABLE = re.compile(rb"[0-9a-fA-FxXuUlL.,+\-\s]{2000,}")
"""Numbers and nothing else: a binary or a table that a program wrote, whose tree takes a hundred times its bytes."""
_BLANKS = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))
"""Makes blanks of all but the ends of lines, by ``translate``."""
_UNCONTINUED = re.compile(rb"[^\r\n\\]|\\(?!\r?\n)")
_LAUNCH = re.compile(rb"<<<(?!<)[^;{}]{0,600}?>>>")
_EMPTY = re.compile(rb"#[ \t]*if[^\n]*\n(?:[ \t]*\r?\n){1,3}[ \t]*#[ \t]*endif[^\r\n]*")
"""Between ``template <...>`` and its kernel (launch bounds for one platform) it would tear them apart."""
_NEVER = re.compile(rb"#[ \t]*if[ \t]+(?:0|false)\b[^\n]*")
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b", re.MULTILINE)


def masked(data: bytes, hidden: frozenset[bytes] = frozenset()) -> bytes:
    """The same number of bytes in the same lines, with CUDA's words, launch configurations and dead code blank.

    ``hidden`` are macros that stand for such words only; in directives they stay.
    """
    data = _TABLE.sub(_first_and_last, data)
    for start, end in dead(data):
        data = data[:start] + data[start:end].translate(_BLANKS) + data[end:]
    data = _WORDS.sub(_blank, data)
    if any(word in data for word in _MACRO_WORDS):
        data = _MACROS.sub(_blank, data)
    if b"KOKKOS_" in data:
        data = _PORTABLE.sub(_captured, data)
    if any(word in data for word in _EXPORTS):
        data = _EXPORTED.sub(_blank, data)
    if b"typename" in data:
        data = _MADE.sub(_blank, data)
    if b"atomic_ref" in data:
        data = _REFERS.sub(rb"\1{\2}", data)
    if b"_ptr<" in data or b"_ptr <" in data:
        data = _POINTER_CAST.sub(_blank, data)
    if b"#if" in data:
        data = _balanced(data)
        data = _LISTED.sub(lambda m: _CONDITION_LINE.sub(_blank, m[0]), data)
    if b"unroll" in data:
        data = _UNROLLED.sub(_blank, data)
    if b"define" in data:
        data = _ended(data)
    if b"STATIC_ASSERT" in data:
        data = _ASSERTION.sub(_blank, data)
    data = _without_openings(data)
    if b"PYBIND11_MODULE" in data or b"TORCH_LIBRARY" in data or b"NB_MODULE" in data:
        data = _MAKING.sub(_blank, data)
    if b"asm" in data:
        data = _ASSEMBLER.sub(lambda m: _CONSTRAINT.sub(_as_string, _last_branches(m[0])), data)
    named = [name for name in sorted(hidden) if name in data]
    if named:
        words = b"|".join(map(_hidden, named))
        pattern = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*|\b(?:" + words + rb")", re.MULTILINE)
        data = pattern.sub(_blank_word, data)
    if b"define" in data:
        data = _NO_BODY.sub(rb"\g<1>0\g<2>", data)
    return _LAUNCH.sub(_blank, _EMPTY.sub(_blank_lines, data))


def _first_and_last(match: re.Match[bytes]) -> bytes:
    """The first and the last number of a table, with blanks between them."""
    text = match[0]
    first, last = text.find(b",") + 1, text.rfind(b",") + 1
    return text[:first] + text[first:last].translate(_BLANKS) + text[last:] if 0 < first < last else text


def _ended(data: bytes) -> bytes:
    """With a semicolon behind the uses of macros of the file that are whole statements and stand alone on their lines.

    It takes the place of a blank at the start of the next line; without one, and with types among the arguments, the
    grammar loses the function.
    """
    names = {match[1] for match in _MACRO.finditer(data)}
    if not names:
        return data
    use = re.compile(
        rb"^[ \t]+(?:" + b"|".join(map(re.escape, sorted(names))) + rb")\((?:[^;{}()\n]|\([^;{}()\n]*\)){0,300}\)"
        rb"[ \t]*\r?\n",
        re.MULTILINE,
    )
    out = bytearray(data)
    for match in use.finditer(data):
        if data[match.end() : match.end() + 1] in (b" ", b"\t"):
            out[match.end()] = ord(";")
        for word in _PRIMITIVE.finditer(data, match.start(), match.end()):
            out[word.start()] = ord("_")  # a name: types are no arguments of calls
    return bytes(out)


def filled(data: bytes) -> bytes:
    """A template for a text (Jinja), as many bytes: what it puts in is a name, its statements and comments are blank.

    Of a condition all branches stay.
    """
    return _TEMPLATED.sub(lambda m: _NO_NAME.sub(b"_", m[0]) if m[0].startswith(b"{{") else _blank(m), data)


def _without_openings(data: bytes) -> bytes:
    """Without macros alone on their lines that open a namespace (``BEGIN_MY_NAMESPACE``).

    With ``namespace detail {`` behind it, such a macro looks like the head of a function.
    """
    spans: list[tuple[int, int]] = []
    for keyword in _KEYWORD.finditer(data):
        first = max(0, keyword.start() - _MAX_APART)
        alone = _ALONE.search(data[first : keyword.start()])
        if alone is not None:
            spans.append((first + alone.start(), first + alone.end()))
    at = data.find(b"NAMESPACE")
    while at >= 0:
        end = data.find(b"\n", at)
        line = (data.rfind(b"\n", 0, at) + 1, len(data) if end < 0 else end)
        if _OPENING.fullmatch(data, *line):
            spans.append(line)
        at = data.find(b"NAMESPACE", line[1])
    for start, end in spans:
        blank = _ALONE_NAME.sub(_blank, data[start:end], count=1)
        data = data[:start] + blank + data[end:]
    return data


def _balanced(data: bytes) -> bytes:
    """Without the conditions whose branches open braces that they do not close: one branch stays.

    The grammar takes what follows them for something else. It is the first, or the one that holds atomics; conditions
    with atomics in several branches stay.
    """
    out = bytearray(data)
    open_: list[list[tuple[int, int]]] = []
    for condition in _CONDITION.finditer(data):
        end = data.find(b"\n", condition.end())
        mark = (condition.start(), len(data) if end < 0 else end)
        if condition[1] in (b"if", b"ifdef", b"ifndef"):
            open_.append([mark])
        elif open_:
            open_[-1].append(mark)
            if condition[1] == b"endif":
                _balance(out, open_.pop())
    return bytes(out)


def _balance(out: bytearray, marks: list[tuple[int, int]]) -> None:
    branches = [(first[1], second[0]) for first, second in itertools.pairwise(marks)]
    if all(out.count(b"{", *branch) == out.count(b"}", *branch) for branch in branches):
        return
    plain = [_SAID.sub(b"", bytes(out[start:end])) for start, end in branches]
    if all(text.count(b"{") == text.count(b"}") for text in plain):
        return
    holding = [
        number
        for number, (text, (start, end)) in enumerate(zip(plain, branches, strict=True))
        if b"tomic" in text or in_assembler(bytes(out[start:end]))
    ]
    if len(holding) > 1:
        return
    kept = branches[holding[0] if holding else 0]
    for start, end in (*marks, *(branch for branch in branches if branch != kept)):
        out[start:end] = out[start:end].translate(_BLANKS)


def dead(data: bytes) -> list[tuple[int, int]]:
    """The ranges of bytes that ``#if 0`` takes out, up to its ``#else``, ``#elif`` or ``#endif``."""
    found: list[tuple[int, int]] = []
    at = 0
    while (never := _NEVER.search(data, at)) is not None:
        depth = 1
        at = end = len(data)
        for condition in _CONDITION.finditer(data, never.end()):
            word = condition[1]
            depth += (word in (b"if", b"ifdef", b"ifndef")) - (word == b"endif")
            if depth == 0 or (depth == 1 and word in (b"else", b"elif")):
                at = end = condition.start()
                break
        found.append((never.end(), end))
    return found


def _last_branches(text: bytes) -> bytes:
    """A statement of assembler with the last branch of its conditions: the one for the newest devices."""
    if b"#" not in text or _CONDITION.search(text) is None:
        return text
    return _CONDITION_LINE.sub(_blank, _EARLIER.sub(_blank, text))


def _as_string(match: re.Match[bytes]) -> bytes:
    return match[1] + b'"' + b"r" * (len(match[2]) - 2) + b'"'


def _captured(match: re.Match[bytes]) -> bytes:
    """``KOKKOS_LAMBDA (int i) {...}`` is a lambda that copies what it names."""
    return b"[=]".ljust(len(match[0])) if match[0].endswith(b"LAMBDA") else _blank(match)


def _blank(match: re.Match[bytes]) -> bytes:
    """Blank, but for what continues a line: a launch inside of a macro may go over several."""
    return _UNCONTINUED.sub(b" ", match[0])


def _hidden(name: bytes) -> bytes:
    """The pattern of a hidden macro; one with parameters ends in a parenthesis."""
    return name[:-1] + rb"\([^()]*(?:\([^()]*\)[^()]*){0,8}\)" if name.endswith(b"(") else name + rb"\b"


def _blank_word(match: re.Match[bytes]) -> bytes:
    """As ``_blank``, but of directives."""
    return match[0] if match[0].lstrip().startswith(b"#") else match[0].translate(_BLANKS)


def _blank_lines(match: re.Match[bytes]) -> bytes:
    """As ``_blank`` where nothing stands on the line before."""
    before = match.string[match.string.rfind(b"\n", 0, match.start()) + 1 : match.start()]
    return match[0] if before.strip(b" \t") else _blank(match)
