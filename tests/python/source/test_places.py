"""Places agree with libcst's own positions, and facts of arbitrary programs can be made, kept and told."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import libcst as cst
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from libcst.metadata import MetadataWrapper, WhitespaceInclusivePositionProvider

from d9mlint.python.source import facts as f
from d9mlint.python.source import layouts, parsing, places
from d9mlint.python.source.lowering import lower
from d9mlint.python.source.parsing import parse
from d9mlint.python.source.places import Places
from d9mlint.python.source.reading import CannotRead

SOURCES = sorted((Path(__file__).parents[2] / "projects").glob("*/*.py"))[::7]
ODD = [
    "x = [\n    f(1,\n      2)\n]\n",
    "if a:\n\tb = g(\n\t\t1)\nelse:\n\th()\n",
    "def f():\r\n    return g(1)\r\n",
    "ds = (\n    ds\n    .shuffle(10)\n    .batch(2)\n)\n",
    'x = """a\nb""" + f("é", ü(1))\n',
    "class A:\n    @deco(1)\n    def m(self): return (yield)\n",
]

EACH_KIND = """\
import a.b as c, d; from e import (f as g, h)
@ deco (1) # why

@other
# between
async def m(p, /, q : int = (1), * , r = 2.5, ** s) -> t . u [ 0 ] :
    '''text
    more'''
    x : int = f(1)
    x : a.b
    y = z = [ 1 , * w , a.b ] ; y += 1 ; y -= 2 ; y *= 3 ; y /= 4 ; y **= f(2)
    return { 'k' : v . k , ** a.rest , } , { 1 , f(2) }
def n(*args, k = f(0)): return lambda v, w = a.b : v
class A ( b . B , metaclass = C ) :
\tx = ( ( a . b + 1 - 2 * 3 / 4 // 5 % 6 ** 7 ) )

\tif not x and y or z == 1 != 2 < 3 > 4 <= 5 >= 6 in a.b is c not in d is not e :
\t\tpass # nothing
\telif ( f(1) ) :
\t\tx[ 1 : f(2) : 3 , ... , a.b ] ( * args , k = 1 , ** kw )
\telif g(2): x = - y.z
\telse :
\t\tx = a.b if c.d else e.f
for i , j in ( g(1) ) : print(i)
else: f(1)
async def o():
    async for k in l.m: await n(k)
    async with ( a.b(1) as c , d.e ) : f"{c.d!r:>{e.f}} {g(1)}" 'x' ; [ i.j for i in k.l if m.n ]
with a.b as c, d.e: pass
while ( f(1) ) :
    try : g(1)
    except ( A.b , C ) as e : h(1)
    except : raise f(1) from g(2)
    else : del a.b , c[0]
    finally : assert a.b , f(1)
x = f(  # first
    a.b,

    # second
    \\
    c . d
) + ~ g(1)
match f(1):
    case A.b: g(1)
"""


def test_places_of_each_kind_of_node_are_those_of_the_code_generator() -> None:
    module = cst.parse_module(EACH_KIND)
    counter = places._Counter(module, 1, {})
    module._codegen(counter)
    assert Places(module, 1)._places == counter.places
    kinds: set[type[cst.CSTNode]] = set()
    pending: list[cst.CSTNode] = [module]
    while pending:
        node = pending.pop()
        kinds.add(type(node))
        pending += node.children
    assert layouts.LAYOUTS.keys() | places._SPECIAL.keys() <= kinds


@pytest.mark.parametrize("text", [EACH_KIND, *ODD, *(p.read_text() for p in SOURCES)])
def test_places_agree_with_libcst(text: str) -> None:
    wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    known = wrapper.resolve(WhitespaceInclusivePositionProvider)
    found = Places(wrapper.module, 1)
    checked = 0
    for node, where in known.items():
        if isinstance(node, (cst.Call, cst.Attribute, cst.Assign, cst.Set)):
            end = (where.end.line, where.end.column + 1)
            assert found.of(node) == (where.start.line, where.start.column + 1, *end)
            checked += 1
    assert checked


def test_a_call_in_a_chain_is_where_its_name_stands() -> None:
    module = cst.parse_module("ds = (\n    ds.map(f)\n    .shuffle(10)\n)\n")
    (assigned,) = lower(module)
    call = assigned.value  # type: ignore[union-attr]
    assert call.place[:2] == (3, 6)


def test_facts_survive_pickling() -> None:
    for path in SOURCES:
        facts = parse(path.read_bytes(), "x.py")
        assert pickle.loads(pickle.dumps(facts)) == facts


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"x = (\n", "syntax error at line"),
        (b"print 'x'\ndef f(a, (b, c)): pass\n", "syntax error at line 1 .it looks like Python 2"),
        (b"x = 1\0\n", "NUL"),
        ("x = 'ä'\n".encode("latin-1"), "not UTF-8"),
        (b"x = " + b"[" * 3000 + b"]" * 3000, "nested too deeply"),
        # Which of the two comes first depends on how much of the stack is left.
        (b"x = " + b"+".join([b"1"] * 20_000), "an expression is too long|nested too deeply"),
        (b"".join(b" " * i + b"if x:\n" for i in range(400)) + b" " * 400 + b"y\n", "syntax error|nested too deeply"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(CannotRead, match=reason):
        parse(data, "x.py")


_PIECES = st.tuples(
    st.sampled_from(
        [
            b"(",
            b")",
            b"[]",
            b"({",
            b"})",
            b"+",
            b"1,",
            b"\n",
            b"#'",
            b".a",
            b".a(1, 2)\n",
            b"[0]",
            b"-",
            b"not\n",
            b"f(1,\n",
        ]
    ),
    st.integers(1, 3000),
)


@settings(deadline=None)
@example(b"x = (f", [(b".a(1, 2)\n", 224)], b")")
@given(st.sampled_from([b"", b"x = ", b"x = (f"]), st.lists(_PIECES, max_size=6), st.sampled_from([b"", b"1", b")"]))
def test_the_quick_look_at_a_source_lets_no_monster_pass(
    first: bytes, pieces: list[tuple[bytes, int]], last: bytes
) -> None:
    data = first + b"".join(piece * times for piece, times in pieces) + last
    if parsing._is_plain(data):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parsing, "_is_plain", lambda data: False)
            assert _refusal(data) == ""


MONSTERS = {
    "attributes": "x = a" + ".b" * 8_000,
    "calls": "x = a" + ".b()" * 8_000,
    "calls over lines": "x = (a" + "\n.b(1, 2)" * 8_000 + ")",
    "items": "x = a" + "[0]" * 8_000,
    "not": "x = " + "not " * 8_000 + "1",
    "not over lines": "x = (" + "not\n" * 8_000 + "1)",
    "lambda": "x = " + "lambda: " * 3_000 + "1",
    "if": "x = " + "1 if a else " * 3_000 + "1",
    "import": "import " + ".".join("a" * 3_000),
    "minus": "x = " + "-" * 8_000 + "1",
}


@pytest.mark.parametrize("name", MONSTERS)
def test_monsters_are_refused_before_they_cost_anything(name: str) -> None:
    """Each of them took minutes, gigabytes or the process with it (signal 11)."""
    with pytest.raises(CannotRead, match="nested too deeply|an expression is too long"):
        parse(MONSTERS[name].encode() + b"\n", "x.py")


@given(st.integers(0, 5), st.integers(0, 5))
def test_the_line_of_a_syntax_error_is_pythons(before: int, after: int) -> None:
    data = b"x = [\n1,\n]\n" * before + b"def f(:\n" + b"y = 1\n" * after
    with pytest.raises(SyntaxError) as error:
        ast.parse(data)
    with pytest.raises(CannotRead, match=f"^syntax error at line {error.value.lineno}$"):
        parse(data, "x.py")


def _refusal(data: bytes) -> str:
    try:
        parsing._refuse_monsters(data)
    except CannotRead as error:
        return str(error)
    return ""


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
@given(st.text(alphabet="ab'\"\\\r\n{}é", max_size=12), st.sampled_from(["'", '"', "'''", '"""']))
def test_texts_are_what_python_reads(inner: str, quotes: str) -> None:
    source = f"x = {quotes}{inner}{quotes}\n".encode()
    try:
        facts = parse(source, "x.py")
    except CannotRead:
        return
    one = facts.body[0]
    if isinstance(one, f.Assign) and isinstance(one.value, f.Const):
        known = ast.parse(source).body[0]
        assert isinstance(known, ast.Assign)
        assert ast.literal_eval(known.value) == one.value.value
