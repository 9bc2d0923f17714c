"""Kernels inside Python files: who launches them, and what is no kernel."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from d9mlint.kernels.embedded.finding import Embedded, find
from d9mlint.kernels.source.repository import Repository

from .embedded_programs import scan


def test_the_autograd_function_above_a_launch() -> None:
    found = scan(
        {
            "pkg/__init__.py": "from .ops import gather_rows",
            "pkg/ops.py": """
            import torch
            from .kernels import launch

            class _Gather(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, index):
                    return x[index]

                @staticmethod
                def backward(ctx, grad):
                    return launch(grad), None

            def gather_rows(x, index):
                return _Gather.apply(x, index)
        """,
            "pkg/kernels.py": """
            import torch, triton
            import triton.language as tl
            @triton.jit
            def _accumulate(out, value):
                tl.atomic_add(out, value.to(tl.float32))
            @triton.jit
            def _kernel(out, x):
                _accumulate(out + tl.program_id(0) // 2, tl.load(x))
            def launch(x):
                out = torch.zeros_like(x)
                _kernel[(8,)](out, x)
                return out
        """,
        }
    )
    assert [op.name for op in found.ops] == ["pkg.kernels.launch"]
    assert [s.text for s in found.ops[0].chain][:3] == [
        "kernel `_accumulate`", "kernel `_kernel`", "Python `launch`",
    ]  # fmt: skip


def test_a_gradient_is_called_through_functions_of_other_files() -> None:
    files = {
        "pkg/__init__.py": "from pkg.ops import gather_rows",
        "pkg/kernels.py": """
            import torch, triton
            import triton.language as tl
            @triton.jit
            def _kernel(out, x):
                tl.atomic_add(out + tl.program_id(0) // 2, tl.load(x).to(tl.float32))
            def gather_bwd(x):
                out = torch.zeros_like(x)
                _kernel[(8,)](out, x)
                return out
        """,
        "pkg/ops.py": """
            import torch
            from pkg.kernels import gather_bwd
            def _both_bwd(grad):
                return gather_bwd(grad) + grad
            class _Gather(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, index):
                    return x[index]
                @staticmethod
                def backward(ctx, grad):
                    return _both_bwd(grad), None
            def gather_rows(x, index):
                return _Gather.apply(x, index)
        """,
    }
    (op,) = scan(files).ops
    assert (op.name, op.direction, op.python[0]) == ("pkg.kernels.gather_bwd", "backward", "pkg.gather_rows")


def test_a_kernel_launched_in_backward_is_a_gradient() -> None:
    found = scan(
        kernels="""
        import torch, triton
        import triton.language as tl
        @triton.jit
        def _bwd(dx, v):
            tl.atomic_add(dx, v.to(tl.float32))
        class Lookup(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x
            @staticmethod
            def backward(ctx, g):
                _bwd[(1,)](g, g)
                return g
        def lookup(x):
            return Lookup.apply(x)
    """
    )
    (op,) = found.ops
    assert (op.name, op.direction, op.gradient_of) == ("kernels.Lookup.backward", "backward", ("kernels.Lookup",))
    assert op.python == ("kernels.lookup", "kernels.Lookup.apply")


def test_files_without_kernels_are_not_parsed() -> None:
    found = scan(a="x = (  # broken, atomic", b="def f(: numba atomic", c="import triton\n")
    assert found == Embedded()


GARBAGE = ["tl.atomic_add(", "@triton.jit", "def k(p):", "\n", "    ", '"""', "__global__ void k(float* p) {", "}",
           "atomicAdd(p, 1.f);", "import triton.language as tl\n", "f'''{", "}'''", "RawKernel(", ")", "\x00", "\\"]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(GARBAGE), max_size=25))
def test_garbage_never_raises(parts: list[str]) -> None:
    data = "".join(parts).encode()
    found = find(Repository(["a.py"], lambda _: b"# triton atomic\n" + data))
    assert all(re.fullmatch(r"a\.py", s.location.path) for s in found.sites)


def test_instances_of_a_template_that_a_module_is_asked_for() -> None:
    found = scan(
        kernels='''
        import cupy as cp
        code = r"""
        template <typename T> __global__ void mean(const T* x, T* out) { atomicAdd(out, x[threadIdx.x]); }
        """
        module = cp.RawModule(code=code, name_expressions=["mean<float>", "mean<int>"])
        def mean(x, out):
            module.get_function("mean<float>")((1,), (32,), (x, out))
    '''
    )
    assert [(s.class_, s.verdict, s.target_type) for s in found.sites] == [
        ("float-accumulate", "conditional", "T = float | int")
    ]


def test_a_number_computed_from_a_kernel_is_no_name_of_it() -> None:
    found = scan(
        kernels="""
        import triton, triton.language as tl
        @triton.jit
        def _bwd(x_ptr, out_ptr, BLOCK: tl.constexpr):
            x = tl.load(x_ptr + tl.arange(0, BLOCK)).to(tl.float32)
            low, high = tl.split(tl.reshape(x, [BLOCK // 2, 2]))
            tl.atomic_add(out_ptr, tl.sum(tl.reshape(tl.join(-high * scale(x), low), [2])))
        LEAST = min(c.kwargs["BLOCK"] for c in _bwd.configs)
        def backward(x, out):
            _bwd[(1,)](x, out, BLOCK=LEAST)
    """
    )
    assert [op.name for op in found.ops] == ["kernels.backward"]
    assert [(s.class_, s.verdict) for s in found.sites] == [("float-accumulate", "yes")]


def test_a_kernel_in_a_table_and_an_operator_that_python_registers() -> None:
    found = scan(
        {
            "pkg/__init__.py": "from .functional import update",
            "pkg/functional.py": """
            import torch
            def update(name, g):
                torch.ops.pkg.update.default(name, g)
            def other(g):
                torch.ops.pkg.update_fake(g)
        """,
            "pkg/kernels.py": """
            import torch, triton
            import triton.language as tl
            @triton.jit
            def _momentum(out, value):
                tl.atomic_add(out, value.to(tl.float32))
            STEPS = {"momentum": {"before": _momentum}}
            def _launch(name, x):
                STEPS[name]["before"][(8,)](x, 1.0)
            def known(name):
                return name in STEPS or len(STEPS) == 0 or name in STEPS.keys()
            register_kernel("pkg::update", "cuda")(_launch)
            register_fake("pkg::update_fake")(_launch)
        """,
        }
    )
    assert [op.python for op in found.ops] == [("pkg.update", "pkg.functional.update", "torch.ops.pkg.update")]
    assert [s.text for s in found.ops[0].chain] == [
        "kernel `_momentum`", "table `STEPS`", "Python `_launch`", "operator `pkg::update`", "Python `update`",
    ]  # fmt: skip


def test_what_decorates_a_function_names_its_operator() -> None:
    found = scan(
        {
            "pkg/__init__.py": "",
            "pkg/layers.py": """
            import torch
            def pool(x):
                return torch.ops.pkg.pool(x)
        """,
            "pkg/kernels.py": """
            import torch, triton
            import triton.language as tl
            @triton.jit
            def _kernel(out, value):
                tl.atomic_add(out, value.to(tl.float32))
            @torch.library.custom_op("pkg::pool", mutates_args=())
            def _pool(x):
                _kernel[(8,)](x, 1.0)
        """,
        }
    )
    assert [op.python for op in found.ops] == [("pkg.layers.pool", "torch.ops.pkg.pool")]


def test_a_name_that_only_a_script_has_is_no_op() -> None:
    found = scan(
        kernels="""
            import triton
            import triton.language as tl
            @triton.jit
            def add_kernel(out, value):
                tl.atomic_add(out, value.to(tl.float32))
            def launch(x):
                add_kernel[(8,)](x, 1.0)
            if __name__ == "__main__":
                kernel = add_kernel
                print(kernel)
        """
    )
    assert [op.name for op in found.ops] == ["kernels.launch"]


def test_a_function_launches_the_kernels_that_it_asks_a_module_for() -> None:
    found = scan(
        mesh='''
        import cupy
        CODE = r"""
        __device__ void vote(float* o, float v) { atomicAdd(o, v); }
        extern "C" __global__ void kerVote(float* o, const float* a) { vote(o, a[threadIdx.x]); }
        template <typename T> __global__ void kerSum(T* o, const T* a) { atomicAdd(o + 1, a[threadIdx.x]); }
        extern "C" __global__ void kerCopy(float* o, const float* a) { o[threadIdx.x] = a[threadIdx.x]; }
        """
        MODULE = cupy.RawModule(code=CODE, name_expressions=["kerSum<float>"])
        def vote(o, a):
            MODULE.get_function("kerVote")((1,), (32,), (o, a))
        def total(o, a, kind):
            MODULE.get_function(f"kerSum<{kind}>")((1,), (32,), (o, a))
        def copy(o, a):
            MODULE.get_function("kerCopy")((1,), (32,), (o, a))
        def any_of(name, o, a):
            MODULE.get_function(name)((1,), (32,), (o, a))
    '''
    )
    assert {op.name: len(op.sites) for op in found.ops} == {"mesh.any_of": 3, "mesh.total": 1, "mesh.vote": 2}


BUILT = """
    import functools
    from flydsl import llvm
    import flydsl.compiler as flyc

    @functools.lru_cache
    def compile_split(n):
        @flyc.kernel
        def split(out, value):
            llvm.AtomicRMWOp(llvm.AtomicBinOp.fadd, out, value, llvm.AtomicOrdering.monotonic)
        @flyc.jit
        def launch(out, value):
            split(out, value).launch(grid=n)
        return launch
"""


def test_who_calls_what_a_function_has_built_is_the_op() -> None:
    """Through functions that give the kernel back; where nothing calls those, they are the op."""
    caller = """
    from .kernels import compile_split

    def _compiled(n):
        made = compile_split(n)
        return made

    def add_split(out, value):
        launch = _compiled(4)
        launch(out, value)
        return out

    def train(out):
        return add_split(out, 1)
    """
    package = {"pkg/__init__.py": "", "pkg/kernels.py": BUILT}
    assert [op.name for op in scan(package).ops] == ["pkg.kernels.compile_split"]
    (op,) = scan({**package, "pkg/ops.py": caller}).ops
    assert op.name == "pkg.ops.add_split"
    assert op.python[0] == "pkg.ops.add_split"


def test_an_autograd_function_that_gets_kernels_from_a_plain_class() -> None:
    found = scan(
        kernels='''
        import torch
        from cupy.cuda import function
        CODE = """
        extern "C" __global__ void bwd(float* grad, const float* x) { atomicAdd(grad, x[threadIdx.x]); }
        """

        class Compiled:
            ptx = Program(CODE, "prog.cu").compile()
            def get(self):
                mod = function.Module()
                mod.load(bytes(self.ptx.encode()))
                return mod.get_function("bwd")

        class Compute(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x
            @staticmethod
            def backward(ctx, grad):
                Compiled().get()(args=[grad], block=(32, 1, 1))
                return grad

        class Layer(torch.nn.Module):
            def forward(self, x):
                return Compute.apply(x)
        '''
    )
    (op,) = found.ops
    assert (op.name, op.direction) == ("kernels.Compute.backward", "backward")
    assert op.python == ("kernels.Layer", "kernels.Compute.apply")
