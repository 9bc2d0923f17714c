"""Programs that ask about themselves: the names of a function, the class of an object, the parameters of a function."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d9mlint.python.domain.values import Const
from tests.python.interpreter.test_story import calls, story

START = "import inspect\nimport numpy as np\n\ndef f():\n    np.random.rand(3)\n\ndef g():\n    np.random.randn(3)\n\n"
DRAWS, OTHER = "numpy.random.rand", "numpy.random.randn"

KEEP = """from inspect import getfullargspec

def keep(values, underscore=False, overwrite=False):
    prefix = "_" if underscore else ""
    self = values["self"]
    args = list()
    for cls in type(self).mro():
        if "__init__" in vars(cls):
            args += getfullargspec(cls.__init__).args[1:]
    for arg in args:
        attr = prefix + arg
        if arg in values and (not hasattr(self, attr) or overwrite):
            setattr(self, attr, values[arg])
"""


def drawn(text: str) -> list[str]:
    """What the program surely draws, under no condition."""
    told = story(text)
    return [e.name for e in told.events if e.kind == "call" and e.certain and "random" in e.name and not e.guards]


def kept(body: str, call: str = "T(f).f()", init: str = "f") -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return f"{START}class T:\n    def __init__(self, {init}):\n{lines}{call}\n"


@pytest.mark.parametrize(
    "text",
    [
        kept("self.__dict__.update(locals())"),
        kept("vars(self).update(locals())"),
        kept("self.__dict__ = locals()"),
        kept("self.__dict__ = dict(f=f)"),
        kept("self.f = locals()['f']"),
        kept("self.f = vars()['f']"),
        kept("for k, v in locals().items():\n    setattr(self, k, v)"),
        kept("for k, v in locals().items():\n    if k != 'self':\n        setattr(self, '_' + k, v)", "T(f)._f()"),
        kept("for k, v in kw.items():\n    setattr(self, k, v)", "T(f=f).f()", "**kw"),
        kept("for k in inspect.getfullargspec(T.__init__).args[1:]:\n    setattr(self, k, locals()[k])"),
        kept("for k in inspect.getfullargspec(self.__init__)[0][1:]:\n    setattr(self, k, f)"),
        kept("args, _, _, _ = inspect.getargspec(T.__init__)\nfor k in args[1:]:\n    setattr(self, k, f)"),
        kept("for k in inspect.signature(T).parameters:\n    setattr(self, k, f)"),
        kept("for k in inspect.signature(self.__init__).parameters.keys():\n    setattr(self, k, f)"),
        kept("for k, p in inspect.signature(T).parameters.items():\n    setattr(self, p.name, f)"),
        kept("if 'f' in inspect.signature(T).parameters:\n    self.f = f"),
        kept("if not hasattr(self, 'f'):\n    self.f = f"),
        kept("if '__init__' in vars(type(self)):\n    self.f = f"),
        kept("if 'other' not in type(self).__dict__:\n    self.f = f"),
        kept("if '__init__' in vars(object):\n    self.f = f"),
        kept("self.f = f\nself.other = type(self)", "T(f).other(f).f()"),
        kept("self.f = f\nself.other = self.__class__", "T(f).other(f).f()"),
    ],
)
def test_what_is_kept_by_reflection_is_followed(text: str) -> None:
    assert drawn(text) == [DRAWS]


def test_the_arguments_of_all_constructors_become_attributes() -> None:
    """As many as there are, also of those of the base, whose own call finds what the derived one has kept."""
    text = """from keeping import keep
import numpy as np

class Base:
    def __init__(self, base, a1=1, a2=2, a3=3, a4=4, a5=5, a6=6, a7=7, a8=8):
        keep(locals())

class Derived(Base):
    def __init__(self, own, base):
        keep(locals())
        super().__init__(None)

for one in (1, 2):
    made = Derived(np.random.rand, np.random.randn)
    made.own(one)
    made.base(one)
    if made.a8 == 8:
        np.random.permutation(one)
"""
    made = [name for name in calls(story({"train.py": text, "keeping.py": KEEP})) if name.startswith("numpy.")]
    assert made == [DRAWS, OTHER, "numpy.random.permutation"] * 2


def test_a_helper_that_is_handed_names_is_followed_each_time() -> None:
    text = "from keeping import keep\nimport numpy as np\n" + "".join(
        f"class C{i}:\n    def __init__(self, f):\n        keep(locals())\nC{i}(np.random.seed).f({i})\n"
        for i in range(30)
    )
    told = story({"train.py": text, "keeping.py": KEEP})
    assert [e.args[0].value for e in told.calls("numpy.random.seed") if isinstance(e.args[0], Const)] == [*range(30)]


def test_classes_come_in_the_order_in_which_python_looks() -> None:
    text = START + (
        "class A: pass\nclass B(A): pass\nclass C(A): pass\nclass D(B, C): pass\n"
        "if [c.__name__ for c in D.__mro__[:4]] == ['D', 'B', 'C', 'A']:\n    pass\n"
        "for one, name in zip(D.mro(), 'DBCA'):\n    pass\n"
        "if D.mro()[2] is C and inspect.getmro(D)[3] is A and D.__bases__[0] is B:\n    f()\nelse:\n    g()\n"
    )
    assert drawn(text) == [DRAWS]


UNKNOWN = [
    kept("for k, v in read().items():\n    setattr(self, k, v)\nif hasattr(self, 'f'):\n    f()\nelse:\n    np.random.randn(3)",
         "T(f)"),
    kept("self.__dict__.update(read())\nif hasattr(self, 'f'):\n    f()\nelse:\n    np.random.randn(3)", "T(f)"),
    kept("try:\n    x = read()\nexcept OSError:\n    pass\nif 'x' in locals():\n    f()\nelse:\n    np.random.randn(3)",
         "T(f)"),
    START + "def run():\n    for i in range(9):\n        if 'x' in locals():\n            f()\n        else:\n"
    "            g()\n        x = 1\nrun()\n",
    START + "class T:\n    def step(self):\n        if hasattr(self, 'x'):\n            f()\n        else:\n            g()\n"
    "        self.x = 1\nt = T()\nt.step()\nt.step()\n",
    START + "import lib\nclass T(lib.Base):\n    def __init__(self):\n        if hasattr(self, 'x'):\n            f()\n"
    "        else:\n            g()\nT()\n",
    START + "import lib\n@lib.more\nclass T:\n    pass\nif 'x' in vars(T):\n    f()\nelse:\n    g()\n",
    START + "import lib\n@lib.more\ndef h(a): pass\nif 'b' in inspect.signature(h).parameters:\n    f()\nelse:\n    g()\n",
    START + "import lib\nclass T(lib.Base):\n    pass\nfor c in T.mro():\n    if c.x:\n        f()\n    else:\n        g()\n",
]  # fmt: skip


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_cannot_be_known_stays_unknown(text: str) -> None:
    """Neither way is taken for the only one."""
    assert {DRAWS, OTHER} <= set(calls(story(text)))


ASKED = ["T", "T()", "T.m", "T().m", "f", "np", "np.random.rand", "object", "3", "'x'", "None", "[1]", "{}", "x", "lambda a: a",
         "T if x else f", "type", "D", "super", "inspect.Parameter", "E()", "partial(f)"]  # fmt: skip
QUESTIONS = ["type({})", "type({}).mro()", "{}.__mro__", "vars({})", "{}.__dict__", "{}.__class__", "hasattr({}, 'm')",
             "inspect.getfullargspec({}).args[1:]", "inspect.getargspec({})[0]", "inspect.signature({}).parameters",
             "'m' in vars({})", "'m' in {}.__dict__", "inspect.getmro({})", "{}.__bases__", "locals()", "locals({})",
             "setattr({}, x, 1)", "{}.__dict__.update({})", "{}.__dict__.update(locals())", "vars()", "type({}, (), {{}})",
             "{}.__init__"]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(QUESTIONS), st.sampled_from(ASKED)), min_size=1, max_size=6), st.booleans())
def test_nothing_raises_whatever_is_asked(asked: list[tuple[str, str]], inside: bool) -> None:
    """And the program goes on: what follows is told."""
    lines = [question.replace("{}", f"({of})") for question, of in asked]
    loops = [f"for one in ({line}):\n    (one)" for line in lines]
    body = "\n".join([*lines, *loops, "f()"])
    if inside:
        body = "def run(x=None, *rest, k=1, **kw):\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "run()"
    text = START + (
        "from functools import partial\nimport lib\nclass T:\n    def m(self, a, *b, c=1, **d): pass\n"
        "class A(T): pass\nclass B(T): pass\nclass D(A, B, metaclass=lib.Meta): pass\nclass E(lib.Base, x()): pass\n"
    )
    assert DRAWS in [e.name for e in story(text + body + "\n").events]


@pytest.mark.parametrize(
    "getter", ["lambda self: f()", "fget=lambda self: f()", "lambda self: (g() if not self else f())"]
)
@pytest.mark.parametrize("read", [True, False])
def test_what_property_is_given_runs_where_the_attribute_is_read(getter: str, read: bool) -> None:
    """As under the decorator; a class that only has the attribute runs nothing."""
    text = f"{START}class T:\n    p = property({getter})\none = T()\n{'one.p' if read else ''}\n"
    assert (DRAWS in [e.name for e in story(text).events if e.certain]) is read


@pytest.mark.parametrize("called", ["T().m(3)", "T.m(3)", "T().run(3)"])
def test_a_function_that_a_class_holds_as_static_gets_no_object(called: str) -> None:
    body = "    m = staticmethod(h)\n    def run(self, n):\n        return self.m(n)\n"
    assert drawn(f"{START}def h(n):\n    f() if n == 3 else g()\n\nclass T:\n{body}{called}\n") == [DRAWS]


@pytest.mark.parametrize("called", ["T().m(3)", "T.m(3)"])
def test_a_function_that_a_class_holds_as_its_own_gets_the_class(called: str) -> None:
    text = f"{START}def h(cls, n):\n    cls.f() if n == 3 else g()\n\nclass T:\n    f = staticmethod(f)\n    m = classmethod(h)\n"
    assert drawn(f"{text}{called}\n") == [DRAWS]
