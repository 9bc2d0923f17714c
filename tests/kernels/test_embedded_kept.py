"""Kernels in Python that are built, kept under names and taken out again by operators without a name of their own."""

from __future__ import annotations

from .embedded_programs import scan

KERNELS = """
    import warp as wp

    KEPT = {}

    def keep(name, kinds, kernel):
        full = name + "_" + "_".join(kinds)
        if full not in KEPT:
            KEPT[full] = kernel
        return KEPT[full]

    def taken(name, kinds):
        full = name + "_" + "_".join(kinds)
        return KEPT[full]

    def build(kind: str):
        def first(out: wp.array(dtype=wp.float32), x: wp.array(dtype=wp.float32)):
            wp.atomic_add(out, 0, x[wp.tid()])

        def second(out: wp.array(dtype=wp.float32), x: wp.array(dtype=wp.float32)):
            wp.atomic_add(out, 1, x[wp.tid()])

        return wp.Kernel(first, key=kind), wp.Kernel(second, key=kind)

    first_32, second_32 = build("float32")
    keep("first", ["float32"], first_32)
    keep("second", ["float32"], second_32)
"""
OPERATORS = """
    import torch
    import warp as wp
    from .kernels import taken

    @torch.library.custom_op("shapes::first", mutates_args=())
    def _(x: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        wp.launch(taken("first", [str(x.dtype)]), dim=1, inputs=(out, x))
        return out

    @torch.library.register_fake("shapes::first")
    def _(x):
        return x

    @torch.library.custom_op("shapes::second", mutates_args=())
    def _(x: torch.Tensor) -> torch.Tensor:
        out = torch.zeros_like(x)
        wp.launch(taken("second", [str(x.dtype)]), dim=1, inputs=(out, x))
        return out

    def public(x):
        for _ in range(2):
            x = torch.ops.shapes.second(x)
        return x
"""


def test_each_operator_has_the_kernel_that_it_takes_out() -> None:
    found = scan({"pkg/__init__.py": "", "pkg/kernels.py": KERNELS, "pkg/ops.py": OPERATORS}).ops
    lines = KERNELS.splitlines()
    assert [(op.name, [lines[s.line - 1].split(", ")[1] for s in op.sites]) for op in found] == [
        ("shapes::first", ["0"]),
        ("shapes::second", ["1"]),
    ]
    assert found[0].python == ("torch.ops.shapes.first",)
    assert found[1].python == ("pkg.ops.public", "torch.ops.shapes.second")


def test_a_kernel_that_nobody_takes_out_is_in_no_op() -> None:
    others = OPERATORS.replace('taken("first"', 'taken("third"')
    found = scan({"pkg/__init__.py": "", "pkg/kernels.py": KERNELS, "pkg/ops.py": others}).ops
    assert [op.name for op in found] == ["shapes::second"]


def test_a_builder_that_remembers_what_it_made() -> None:
    kernels = """
        import warp as wp
        MADE = {}

        def _build(kind):
            def spread(out: wp.array(dtype=wp.float32), x: wp.array(dtype=wp.float32)):
                wp.atomic_add(out, 0, x[wp.tid()])
            return wp.Kernel(spread, key=kind)

        def spread_kernel(kind):
            if kind not in MADE:
                kernel = _build(kind)
                MADE[kind] = kernel
            return MADE[kind]
    """
    operators = """
        import torch, warp as wp
        from .kernels import spread_kernel

        @torch.library.custom_op("shapes::spread", mutates_args=())
        def spread(x: torch.Tensor) -> torch.Tensor:
            out = torch.zeros_like(x)
            wp.launch(spread_kernel("float32"), dim=1, inputs=(out, x))
            return out
    """
    (op,) = scan({"pkg/__init__.py": "", "pkg/kernels.py": kernels, "pkg/ops.py": operators}).ops
    assert (op.name, op.python[-1]) == ("pkg.ops.spread", "torch.ops.shapes.spread")
