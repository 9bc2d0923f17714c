"""Pieces of CUDA code that a Python program puts together are sites, whose types only parameters in the file tell."""

from __future__ import annotations

import pytest

from d9mlint.kernels.scan import scan as whole
from d9mlint.kernels.source.repository import Repository
from d9mlint.model import Site

from .embedded_programs import only, scan


def _sites(text: str) -> tuple[Site, ...]:
    return scan(kernels=text).sites


PROGRAM = '''
    """How it works: atomicAdd(&sums[0], x); in turn."""
    import cupy

    def code(ndim):
        source = """
        for (int ii = 0; ii <= offset; ii++) {
            int lab = labels[ii];"""
        for d in range(ndim):
            source += f"""
            if (lab > 0) {{
                atomicAdd(&sums[lab * {ndim} + {d}], local[{ndim}*ii + {d}]);
                atomicMax(&bbox[(lab - 1)*{2 * ndim} + {d}], top[{d}]);
            }}"""
        source += """
            atomicAdd(&count[lab], local_count[ii]);
        }\\n"""
        return cupy.ElementwiseKernel("raw X labels", "raw float32 sums, raw int32 count, raw X bbox", source, "roi")
'''


def test_pieces_with_types_of_parameters() -> None:
    found = [
        (s.location.line, s.location.column, s.atomic, s.class_, s.verdict, s.target_type) for s in _sites(PROGRAM)
    ]
    assert found == [
        (12, 13, "atomicAdd", "float-accumulate", "yes", "float"),
        (13, 13, "atomicMax", "commutative-exact", "no", ""),
        (16, 9, "atomicAdd", "commutative-exact", "no", "int"),
    ]


def test_strings_inside_of_what_an_f_string_puts_in() -> None:
    found = _sites('''
        import jittor

        def pool(op, x):
            return jittor.code(x.shape, x.dtype, [x], cuda_src=f\'\'\'
                for (int p = k2; p < k2_ && bo; ++p) {{
                    {"atomicAdd(&@out(i0, p), @dout(i0)/count);"
                     if op == "mean" else
                     f"""if (@pout(i0) == @in0(i0, p)) {{
                        atomicAdd(&@out(i0, p), @dout(i0)),
                        bo=0;
                     }}"""}
                }}\'\'\')
    ''')
    assert [(s.location.line, s.class_, s.verdict) for s in found] == [
        (7, "unknown", "conditional"),
        (10, "unknown", "conditional"),
    ]


@pytest.mark.parametrize(
    ("call", "class_", "verdict"),
    [
        ("atomicAdd(&out[i], 1.0f);", "unknown", "conditional"),  # others may add another value
        ("if (atomicAdd(&out[0], 1) == n - 1) last = true;", "order-dependent", "conditional"),
        ("int at = atomicAdd(&n[0], 1); out[at] = x;", "order-dependent", "yes"),
        ("atomicOr(&out[i / 32], bit);", "commutative-exact", "no"),
    ],
)
def test_a_piece_proves_little(call: str, class_: str, verdict: str) -> None:
    site = only(f"""
        import cupy

        def code():
            return "{call}" + rest()
    """)
    assert (site.class_, site.verdict) == (class_, verdict)


@pytest.mark.parametrize(
    "text",
    [
        'raise ValueError("atomicAdd(x) varies; see the guide")',
        'print("use atomicAdd (or atomicMax), not both; thanks")',
        '"""atomicAdd(&x[0], y); is what it does."""',
        '# "atomicAdd(&x[0], y);"',
    ],
)
def test_prose_is_no_code(text: str) -> None:
    assert not _sites(f"import cupy\n\n\ndef f():\n    {text}\n")


def test_a_source_is_read_once() -> None:
    source = "__global__ void k(float* p, const int* i, float x) { atomicAdd(&p[i[threadIdx.x]], x * threadIdx.x); }"
    text = f'import cupy\nK = cupy.RawKernel("{source}", "k")\n'.encode()
    assert len(whole(Repository(["a.py"], lambda _: text)).sites) == 1
