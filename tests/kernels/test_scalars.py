"""Type names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.kernels.judging.known.scalars import arguments, element, kind, plain, underlying
from d9mlint.kernels.judging.known.typelists import dispatched, tensorflow_group
from d9mlint.kernels.judging.opcodes import opcode

from .support import only


@pytest.mark.parametrize(
    ("name", "expected"),
    [("float", "float"), ("const double", "float"), ("Eigen::half", "float"), ("std::complex<float>", "float"),
     ("c10::complex<T>", "float"), ("long double", "float"), ("__nv_bfloat162", "float"), ("float4", "float"),
     ("unsigned long long int", "integer"), ("::tensorflow::int64", "integer"), ("uint8_t", "integer"),
     ("bool", "integer"), ("typename std::make_unsigned<T>::type", "integer"), ("at::acc_type<float, true>", "float"),
     ("T", ""), ("Params", ""), ("", ""), ("floating", ""), ("acc_type<T, true>", "")],
)  # fmt: skip
def test_kind(name: str, expected: str) -> None:
    assert kind(name) == expected


def test_element_of_a_view() -> None:
    assert element("typename TTypes<T, 4>::ConstTensor") == "T"
    assert element("Eigen::TensorMap<Eigen::Tensor<float, 2>>") == "float"
    assert element("PackedTensorAccessor64<c10::complex<float>, 4>") == "c10::complex<float>"
    assert element("Plain") == ""


def test_traits_keep_the_kind() -> None:
    assert underlying("typename AccumulatorType<T>::type") == "T"
    assert underlying("cuda::atomic_ref<unsigned, cuda::thread_scope_device>") == "unsigned"


@given(st.text(alphabet="<>(),:* aTfloatint", max_size=60))
def test_any_text_is_read(text: str) -> None:
    assert kind(text) in ("", "float", "integer")
    assert isinstance(element(text), str)
    assert all(isinstance(a, str) for a in arguments("<" + text))
    assert plain(plain(text)) == plain(text)


@given(st.lists(st.sampled_from(["float", "int", "A<B, C>", "f(a, b)", "3"]), min_size=1, max_size=5))
def test_arguments_are_found_again(parts: list[str]) -> None:
    assert arguments(f"<{', '.join(parts)}> rest") == parts


def test_dispatch_groups() -> None:
    assert dispatched("AT_DISPATCH_FLOATING_TYPES", "x.type(), ") == ("float", "double")
    assert "at::BFloat16" in dispatched("AT_DISPATCH_FLOATING_TYPES_AND2", "at::kHalf, at::kBFloat16, t, ")
    assert all(kind(t) == "integer" for t in dispatched("AT_DISPATCH_INTEGRAL_TYPES", ""))
    assert {kind(t) for t in dispatched("AT_DISPATCH_ALL_TYPES", "")} == {"float", "integer"}
    assert dispatched("MY_DISPATCH", "mode, ") == ()
    assert tensorflow_group("TF_CALL_float") == ("float",)
    assert {kind(t) for t in tensorflow_group("TF_CALL_GPU_NUMBER_TYPES")} == {"float"}
    assert tensorflow_group("OTHER_CALL") == ()


@pytest.mark.parametrize(
    ("text", "operation", "typed", "memory", "returns"),
    [("red.global.add.f32 [%0], %1;", "add", "f32", "global", False),
     ("atom.shared::cta.cas.b32 %0, [%1], %2, %3;", "cas", "b32", "shared", True),
     ("red.relaxed.gpu.global.add.noftz.bf16x2 [a], b;", "add", "bf16x2", "global", False),
     ("atom.add.u64 %0, [%1], %2;", "add", "u64", "unknown", True)],
)  # fmt: skip
def test_opcode(text: str, operation: str, typed: str, memory: str, returns: bool) -> None:
    found = opcode(text)
    assert found is not None
    assert (found.operation, found.type, found.memory, found.returns) == (operation, typed, memory, returns)


def test_no_opcode() -> None:
    assert opcode("mov.u32 %r1, %r2;") is None


_VIEWS = """
template <class YView> struct Multiply {{
  using scalar_y = typename YView::non_const_value_type;
  using count_y = typename YView::non_const_value_type;
  YView y;
  KOKKOS_INLINE_FUNCTION void operator()(const int row) const {{
    scalar_y sum = make(row);
    count_y count = make(row);
    Kokkos::atomic_add(&y(row % 3), {value});
  }}
}};
"""


@pytest.mark.parametrize(
    ("value", "class_"),
    [
        ("sum", "float-accumulate"),
        ("static_cast<scalar_y>(2 * sum)", "float-accumulate"),
        ("scalar_y(sum)", "float-accumulate"),
        ("scalar_y(row)", "unknown"),
        ("count", "unknown"),
        ("static_cast<count_y>(2 * count)", "unknown"),
    ],
)
def test_what_is_named_a_scalar_is_a_float_by_its_class(value: str, class_: str) -> None:
    said = only(_VIEWS.format(value=value))
    assert (said.class_, said.verdict) == (class_, "conditional")
