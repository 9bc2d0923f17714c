"""Kernels of Taichi's: which changes are atomic, of which types, in which loops, and under which names Python has them."""

from __future__ import annotations

import textwrap

import pytest

from d9mlint.discover import may_hold_kernels

from .embedded_programs import scan

_HEAD = """
import taichi as ti

real = ti.f32
scalar = lambda: ti.field(dtype=real)
x, total = ti.field(ti.f32, shape=8), scalar()
count = ti.field(ti.i32, shape=())
ids = ti.field(ti.i32, shape=8)
v = ti.Vector.field(2, dtype=ti.f32, shape=8)
"""


def _found(kernel: str, head: str = _HEAD) -> list[tuple[str, str, str]]:
    text = head + textwrap.dedent(kernel)
    return [(s.atomic, s.class_, s.verdict) for s in scan(kernels=text).sites]


@pytest.mark.parametrize(
    "line, expected",
    [
        ("total[None] += x[i]", ("+=", "float-accumulate", "yes")),
        ("total[None] -= x[i]", ("-=", "float-accumulate", "yes")),
        ("total[None] *= x[i]", ("*=", "float-accumulate", "yes")),
        ("total[None] += 1.0", ("+=", "float-accumulate", "no")),
        ("v[ids[i]] += ti.Vector([x[i], x[i]])", ("+=", "float-accumulate", "yes")),
        ("v[ids[i]][0] += x[i]", ("+=", "float-accumulate", "yes")),
        ("count[None] += ids[i]", ("+=", "commutative-exact", "no")),
        ("count[None] |= ids[i]", ("|=", "commutative-exact", "no")),
        ("ti.atomic_add(total[None], x[i])", ("ti.atomic_add", "float-accumulate", "yes")),
        ("ti.atomic_add(total[None], x[i])**2", ("ti.atomic_add", "float-accumulate", "yes")),
        ("ti.atomic_mul(total[None], x[i])", ("ti.atomic_mul", "float-accumulate", "yes")),
        ("ti.atomic_max(total[None], x[i])", ("ti.atomic_max", "commutative-exact", "no")),
        ("ti.atomic_xor(count[None], ids[i])", ("ti.atomic_xor", "commutative-exact", "no")),
        ("total[None].atomic_add(x[i])", ("total[None].atomic_add", "float-accumulate", "yes")),
        ("n = ti.atomic_add(count[None], 1); x[n] = 2.0", ("ti.atomic_add", "order-dependent", "yes")),
    ],
)
def test_changes_of_fields(line: str, expected: tuple[str, str, str]) -> None:
    assert _found(f"""
        @ti.kernel
        def k():
            for i in x:
                {line}
    """) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        "total[None] += x[0]",  # outside of all loops: one thread
        "ti.loop_config(serialize=True)\n    for i in range(8):\n        total[None] += x[i]",
        "if count[None] > 0:\n        for i in range(8):\n            total[None] += x[i]",
        "for i in x:\n        x[i] += 1.5 * x[i]",  # a cell of the thread's own
        "for i, j in ti.ndrange(8, 8):\n        s = 0.0\n        s += x[i]",
        "s = 0.0\n    for i in ti.static(range(8)):\n        s += x[i]",
        "for i in range(8):\n        m = ti.Vector([0.0, 0.0])\n        m[0] += x[i]",
        "for i in range(8):\n        m = v[i]\n        n = m\n        n[0] += x[i]",
    ],
)
def test_what_one_thread_does_is_no_site(body: str) -> None:
    assert _found(f"\n@ti.kernel\ndef k():\n    {body}\n") == []


@pytest.mark.parametrize(
    "body",
    [
        "ti.loop_config(block_dim=64)\n    for i in range(8):\n        total[None] += x[i]",
        "for d in ti.static(range(2)):\n        for i in x:\n            total[None] += x[i]",
        "if ti.static(True):\n        for i in x:\n            total[None] += x[i]",
        "s = 0.0\n    for i in x:\n        s += x[i]\n    return s",  # the kernel's variable is global to its loop
        "y, w = ti.static(x, total)\n    for i in x:\n        y[ids[i]] += 0.5 * v[i][0]",  # other names of fields
        "for i, j in ti.ndrange(8, 8):\n        x[i] += 0.5 * x[j]",  # the turns of `j` meet
    ],
)
def test_what_many_threads_add_to_is_a_site(body: str) -> None:
    assert [(class_, verdict) for _, class_, verdict in _found(f"\n@ti.kernel\ndef k():\n    {body}\n")] == [
        ("float-accumulate", "yes")
    ]


@pytest.mark.parametrize(
    "body",
    [
        "ti.atomic_add(total[None], x[0])",
        "for i in x:\n        ti.atomic_add(x[i], 0.5)",
        "for i in x:\n        s = 0.0\n        ti.atomic_add(s, x[i])",
    ],
)
def test_a_call_that_is_plain_is_told_as_such(body: str) -> None:
    assert _found(f"\n@ti.kernel\ndef k():\n    {body}\n") == [("ti.atomic_add", "float-accumulate", "no")]


def test_a_cell_is_no_threads_own_where_others_add_to_it() -> None:
    found = _found("""
        @ti.kernel
        def k():
            for i in x:
                x[i] += 0.5 * v[i][0]
                x[ids[i]] -= 0.5 * v[i][0]
    """)
    assert [verdict for _, _, verdict in found] == ["yes", "yes"]


def test_arguments_and_functions() -> None:
    found = _found("""
        @ti.func
        def spread(out: ti.template(), at, value):
            out[at] += value

        @ti.func
        def scaled(m: ti.template(), by: ti.f32):
            m[0] *= by

        @ti.func
        def plain(value):
            value += 1.0
            return value

        @ti.kernel
        def k(a: ti.types.ndarray(dtype=ti.f32, ndim=1), n: ti.types.ndarray(dtype=ti.i32, ndim=1), b: ti.template()):
            for i in range(8):
                m = ti.Vector([1.0, 2.0])
                scaled(m, x[i])
                a[ids[i]] += m[0]
                n[ids[i]] += ids[i]
                b[ids[i]] += ids[i]
                spread(x, ids[i], m[1])
    """)
    assert [(class_, verdict) for _, class_, verdict in found] == [
        ("float-accumulate", "yes"),
        ("float-accumulate", "yes"),
        ("commutative-exact", "no"),
        ("unknown", "conditional"),
    ]


def test_what_a_function_is_handed_is_never_taken_for_its_own() -> None:
    found = _found("""
        @ti.func
        def bare(out, at, value):
            ti.atomic_add(out[at], value)

        @ti.func
        def scalar_of(out: ti.template(), value):
            ti.atomic_add(out, value)

        @ti.func
        def nobodys(out, at, value):
            ti.atomic_add(out[at], value)

        @ti.kernel
        def k():
            for i in range(8):
                bare(x, ids[i], 0.5 * x[i])
                scalar_of(total[None], x[i])
    """)
    assert all(verdict != "no" for _, _, verdict in found)
    assert len(found) == 1


def test_the_op_is_the_kernel_also_of_a_class() -> None:
    found = scan(
        sim="""
        import taichi as ti

        @ti.func
        def add(out: ti.template(), i, value: ti.f32):
            out[i] += value

        @ti.data_oriented
        class Solver:
            def __init__(self, n):
                self.mass = ti.field(ti.f32, shape=n)
                self.at = ti.field(ti.i32, shape=n)

            @ti.kernel
            def p2g(self):
                for p in self.at:
                    self.mass[self.at[p]] += 0.5 * self.mass[p]

        grid = ti.field(ti.f32, shape=8)

        @ti.kernel
        def step():
            for i in range(64):
                add(grid, i % 8, i * 0.1)

        def main():
            step()
        """
    )
    assert [(op.name, op.python) for op in found.ops] == [
        ("sim.Solver.p2g", ("sim.Solver.p2g",)),
        ("sim.step", ("sim.main", "sim.step")),
    ]


def test_a_fork_of_another_name() -> None:
    head = _HEAD.replace("import taichi as ti", "import gstaichi as ti")
    kernel = "\n@ti.kernel\ndef k():\n    for i in x:\n        total[None] += x[i]\n"
    assert _found(kernel, head) == [("+=", "float-accumulate", "yes")]
    assert may_hold_kernels((head + kernel).encode())


_GRADIENT = """
import taichi as ti

x = ti.field(ti.f32, shape=8, needs_grad=True)
loss = ti.field(ti.f32, shape=(), needs_grad=True)
ids = ti.field(ti.i32, shape=8)
data = ti.field(ti.f32, shape=8)

@ti.kernel
def own():
    for i in x:
        loss[None] += x[i] * data[ids[i]]

@ti.kernel
def gathers():
    for i in ids:
        if x[0] > 0:
            loss[None] += x[ids[i]]

@ti.kernel
def shifts():
    for i in ids:
        j = i + 1
        data[i] = x[j // 2]

@ti.kernel
def plain():
    for i in ids:
        data[i] = x[ids[i]]

def step():
    gathers()

def main():
    with ti.ad.Tape(loss):
        own()
        step()
    shifts.grad()
"""


def test_gradients_add_for_what_is_read() -> None:
    found = scan(program=_GRADIENT)
    read = [(s.location.line, s.atomic, s.class_, s.verdict) for s in found.sites if s.atomic.endswith(".grad")]
    assert read == [
        (18, "x.grad", "float-accumulate", "yes"),
        (24, "x.grad", "float-accumulate", "conditional"),
    ]
    ops = {op.name: op.direction for op in found.ops}
    assert ops == {
        "program.own": "forward",
        "program.gathers": "forward",
        "program.gathers.grad": "backward",
        "program.shifts.grad": "backward",
    }


def test_fields_without_gradients_have_no_adjoint() -> None:
    found = scan(program=_GRADIENT.replace(", needs_grad=True", "", 1))
    assert [s.atomic for s in found.sites] == ["+=", "+="]


@pytest.mark.parametrize("made", ["ti.types.ndarray(ndim=1)", "ti.any_arr()", "ti.types.ndarray(dtype=ti.i32, ndim=1)"])
def test_an_array_that_python_makes_and_hands_in(made: str) -> None:
    assert _found(f"""
        import torch

        @ti.kernel
        def march(rays: ti.types.ndarray(ndim=1), counter: {made}, out: ti.types.ndarray(ndim=2)):
            for r in rays:
                n = ti.atomic_add(counter[1], 1)
                out[n, 0] = r

        def run(rays):
            counter = torch.zeros(2, dtype=torch.int32)
            march(rays, counter, torch.empty(8, 2))
    """) == [("ti.atomic_add", "order-dependent", "yes")]
