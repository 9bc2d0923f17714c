"""Operators that Python registers for the functions that launch kernels (``torch.library``), and how they are found."""

from __future__ import annotations

from .embedded_programs import scan

_KERNEL = """
            import torch, triton
            import triton.language as tl
            @triton.jit
            def _kernel(out, value):
                tl.atomic_add(out, value.to(tl.float32))
"""


def python(operators: str, **others: str) -> list[tuple[str, ...]]:
    """The names of the ops of a package whose module `operators` holds a kernel."""
    files = {"pkg/__init__.py": "", "pkg/operators.py": _KERNEL + operators}
    files |= {f"pkg/{name}.py": text for name, text in others.items()}
    return [op.python for op in scan(files).ops]


def test_a_library_that_a_decorator_or_a_call_registers_in() -> None:
    assert python("""
            from torch.library import Library, impl
            mine = Library("mine", "DEF")
            mine.define("add(Tensor x) -> Tensor")
            @impl(mine, "add", "CUDA")
            def _add(x):
                _kernel[(8,)](x, 1.0)
            def _sub(x):
                _kernel[(8,)](x, -1.0)
            mine.impl("sub", _sub, "CUDA")
    """) == [("torch.ops.mine.add",), ("torch.ops.mine.sub",)]


def test_what_only_tells_shapes_is_no_operator() -> None:
    assert python("""
            mine = torch.library.Library("mine", "DEF")
            def add(x):
                _kernel[(8,)](x, 1.0)
            mine.impl("add_meta", add, "Meta")
            torch.library.register_fake("mine::fake", add)
    """) == [("pkg.operators.add",)]


def test_a_library_of_another_module() -> None:
    assert python("""
            from pkg.space import SPACE
            def _add(x):
                _kernel[(8,)](x, 1.0)
            SPACE.impl("add", _add, "CUDA")
    """, space="""
            import torch
            SPACE = torch.library.Library("spaced", "FRAGMENT")
    """) == [("torch.ops.spaced.add",)]  # fmt: skip


def test_a_function_of_the_project_that_registers_what_it_is_given() -> None:
    registering = """
            import torch
            from torch.library import Library
            OURS = Library("ours", "FRAGMENT")
            def register(name, function, library=None):
                home = library or OURS
                home.define(name + torch.library.infer_schema(function, mutates_args=()))
                home.impl(name, function, dispatch_key="CUDA")
    """
    users = """
            import torch
            def layer(x):
                return torch.ops.ours.add(x)
    """
    assert python("""
            from pkg.registering import register
            def _add(x):
                _kernel[(8,)](x, 1.0)
            register(name="add", function=_add)
    """, registering=registering, users=users) == [("pkg.users.layer", "torch.ops.ours.add")]  # fmt: skip
    assert python("""
            from pkg.registering import register
            theirs = torch.library.Library("theirs", "DEF")
            def _add(x):
                _kernel[(8,)](x, 1.0)
            register("add", _add, theirs)
    """, registering=registering) == [("torch.ops.theirs.add",)]  # fmt: skip


def test_the_gradient_that_an_operator_of_a_decorator_is_given() -> None:
    found = scan({"pkg/__init__.py": "", "pkg/operators.py": _KERNEL + """
            @torch.library.custom_op("pkg::pool", mutates_args=())
            def pool(x: torch.Tensor) -> torch.Tensor:
                return x * 2
            def _gradient(ctx, g):
                _kernel[(8,)](g, 1.0)
            pool.register_autograd(_gradient)
    """}).ops  # fmt: skip
    assert [(op.direction, op.gradient_of) for op in found] == [("backward", ("pkg::pool",))]


def test_another_name_of_a_kernel_is_launched_like_it() -> None:
    found = scan({"pkg/__init__.py": "", "pkg/operators.py": _KERNEL + """
            _tuned = triton.autotune(configs=[], key=["n"])(_kernel)
            KERNELS = {"add": _tuned}
            def add(name, x):
                KERNELS[name][(8,)](x, 1.0)
    """}).ops  # fmt: skip
    assert [op.name for op in found] == ["pkg.operators.add"]
