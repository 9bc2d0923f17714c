"""What becomes of the old value."""

from __future__ import annotations

import pytest

from .support import check, only


@pytest.mark.parametrize(
    ("body", "use", "verdict"),
    [
        ("atomicAdd(n, 1);", "unused", "no"),
        ("(void)atomicAdd(n, 1);", "unused", "no"),
        ("for (int i = 0; i < 3; atomicAdd(n, 1)) ++i;", "unused", "no"),
        ("auto f = [&](int k) { atomicAdd(n + k, 1); };", "unused", "no"),
        ("int s; s = atomicAdd(n, 1); out[s] = 3;", "index", "yes"),
        ("int s = atomicAdd(n, 1); int t = 4 * s + 2; out[t] = 3;", "index", "yes"),
        ("int* p = out + atomicAdd(n, 1); *p = 3;", "index", "yes"),
        ("out[0] = atomicAdd(n, 1) + 5;", "value", "yes"),
        ("int s = atomicAdd(n, 1); out[2] = s;", "value", "yes"),
        ("int s = __shfl_sync(~0u, atomicAdd(n, 1), 0); out[s] = 1;", "index", "yes"),
        ("store(out, atomicAdd(n, 1));", "value", "conditional"),
        ("__shared__ bool last; last = atomicAdd(n, 1) == gridDim.x - 1; if (last) out[0] = 3;", "ticket", "no"),
        ("bool last = (atomicInc((unsigned*)n, gridDim.x) == gridDim.x - 1); if (last) out[0] = 3;", "ticket", "no"),
        ("int s = atomicAdd(n, 1); if (s == 0) out[0] = 3;", "ticket", "conditional"),
        ("if (atomicAdd(n, 1) < 10) out[0] = 3;", "ticket", "conditional"),
        ("while (atomicAdd(n, 0) < 10) {}", "ticket", "no"),
        ("int i = 0; for (; i < 9;) { out[i] = 1; i = atomicAdd(n, 1); }", "index", "no"),
        ("int i = 0; for (int k = 0; k < 9; ++k) { out[i] = 1; i = atomicAdd(n, 1); }", "index", "yes"),
        ("int was = atomicMax(n, 7); out[was] = 1;", "index", "yes"),
        ("int was = atomicOr(n, 4); if (was & 4) out[0] = 2;", "ticket", "conditional"),
    ],
)  # fmt: skip
def test_use(body: str, use: str, verdict: str) -> None:
    said = only(f"__global__ void k(int* n, int* out) {{ {body} }}")
    assert (said.return_use, said.verdict) == (use, verdict), said.reason
    assert said.class_ == ("commutative-exact" if use == "unused" else "order-dependent")


def test_reason_quotes_where_the_value_goes() -> None:
    said = only("__global__ void k(int* n, int* out) { int slot = atomicAdd(n, 1); out[2 * slot] = 1; }")
    assert "`[2 * slot]`" in said.reason or "`out[2 * slot]`" in said.reason


def test_returned_from_a_device_function() -> None:
    from .support import judged

    found = judged("""
        __device__ int take(int* n) { return atomicAdd(n, 1); }
        __global__ void k(int* n, int* out) { out[take(n)] = 1; }
    """)
    assert [(a.form, j.return_use, j.verdict) for a, j in found] == [
        ("wrapper-def", "forwarded", "depends"), ("wrapper", "index", "yes")]  # fmt: skip


def test_a_number_for_each_block_instead_of_its_index() -> None:
    kernel = """
        __global__ void k(int* counter, const float* x, float* y, int n) {
          __shared__ int number;
          if (threadIdx.x == 0) {
            number = atomicAdd(counter, 1);          // -> order-dependent no return=index
          }
          __syncthreads();
          int i = number * blockDim.x + threadIdx.x;
          if (i < n) y[i] = 2 * x[i];
        }
    """
    check(kernel)
    varied = kernel.replace("dent no", "dent yes")
    check(varied.replace("2 * x[i]", "2 * x[blockIdx.x]"))
    check(varied.replace("(counter, 1)", "(counter, int(x[threadIdx.x]))"))
    check(varied.replace("(threadIdx.x == 0)", "(threadIdx.x == 0 && x[0] > 0)"))
    check(varied.replace("if (threadIdx.x == 0) {", "if (threadIdx.x < 4) {"))
    check(varied.replace("if (threadIdx.x == 0) {", "if (x[0] > 1) if (threadIdx.x == 0) {"))
    check(kernel.replace("dent no", "dent conditional").replace("2 * x[i]", "2 * x[blockIdx.y]"))
    check(kernel.replace("atomicAdd(counter, 1)", "atomicInc(counter, gridDim.x - 1)"))
    check(kernel.replace("(counter, 1)", "(counter, int{1})"))
    check(varied.replace("(counter, 1)", "(counter, int{threadIdx.y + 1})"))


def test_a_conversion_hands_the_old_value_on() -> None:
    check("""
        __device__ float up(float* a, float b) {
          return orderedIntToFloat(atomicMax((int*)a, floatToOrderedInt(b)));     // -> order-dependent depends return=forwarded
        }
        __device__ float told(float* a, int b) {
          return other(atomicMax((int*)a, b));                                    // -> order-dependent conditional
        }
    """)


def test_an_address_that_is_reckoned_from_the_old_value() -> None:
    check("""
        __global__ void k(int* counter, Workspace w, Buffer b, int x) {
          const auto slot = atomicAdd(counter, 1);                     // -> order-dependent yes return=index
          const auto to = w.get_row_ptr(0, slot);
          *b.map(to, 1) = x;
          const auto other = atomicAdd(counter + 1, 1);                // -> order-dependent conditional
          w.note(other);
        }
    """)


def test_a_function_that_is_called_for_what_it_does_converts_nothing() -> None:
    check("""
        __global__ void k(int* least, int* seen, float* out, int mine) {
          int before = atomicMin(least, mine);                         // -> order-dependent conditional return=value
          if (before != mine) add_edge_to_graph(before, mine);
          int then = atomicMin(seen, mine);                            // -> order-dependent no return=ticket
          if (bits_to_int(then) == mine) out[0] = 1.f;
        }
    """)
