from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from d9mlint.kernels.source.includes import Includes
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.tensorflow.registrations import Registration, registrations


def read(files: dict[str, str], path: str = "a/op.cc", device: str = "") -> list[Registration]:
    data = {p: t.encode() for p, t in files.items()}
    repository = Repository(data, data.__getitem__)
    return registrations(repository, path, Includes(repository), device)


def short(found: list[Registration]) -> list[tuple[str, str, str, int]]:
    return [(r.op, r.device, r.class_, r.location.line) for r in found]


def test_a_plain_registration() -> None:
    source = """
REGISTER_KERNEL_BUILDER(Name("Blur")
                            .Device(DEVICE_GPU)
                            .HostMemory("size")
                            .TypeConstraint<float>("T")
                            .TypeConstraint<int32>("Tindex"),
                        BlurOp<GPUDevice, float>);
"""
    (found,) = read({"a/op.cc": source})
    assert (found.op, found.device, found.class_) == ("Blur", "GPU", "BlurOp<GPUDevice, float>")
    assert found.types == (("T", "float"), ("Tindex", "int32"))
    assert (found.location.path, found.location.line, found.location.column) == ("a/op.cc", 2, 1)
    assert found.words == {"BlurOp", "GPUDevice", "float"}


def test_through_macros_that_paste_the_device_and_redefine_each_other() -> None:
    source = """
#define REGISTER(name, dev, T)                                      \\
  REGISTER_KERNEL_BUILDER(                                          \\
      Name(name).Device(DEVICE_##dev).TypeConstraint<T>("T"),       \\
      SumOp<dev##Device, T>)
#define REGISTER_CPU(T) REGISTER("Sum", CPU, T);
TF_CALL_float(REGISTER_CPU);
#undef REGISTER_CPU
#if GOOGLE_CUDA
#define REGISTER_GPU(T)    \\
  REGISTER("Sum", GPU, T); \\
  REGISTER("SumV2", GPU, T)
TF_CALL_half(REGISTER_GPU);
REGISTER_GPU(double);
#undef REGISTER_GPU
#endif
"""
    assert short(read({"a/op.cc": source})) == [
        ("Sum", "CPU", "SumOp<CPUDevice, float>", 7),
        ("Sum", "GPU", "SumOp<GPUDevice, half>", 13),
        ("SumV2", "GPU", "SumOp<GPUDevice, half>", 13),
        ("Sum", "GPU", "SumOp<GPUDevice, double>", 14),
        ("SumV2", "GPU", "SumOp<GPUDevice, double>", 14),
    ]
    assert {r.device for r in read({"a/op.cc": source}, device="GPU")} == {"GPU"}
    assert len(read({"a/op.cc": source}, device="GPU")) == 4


def test_a_macro_used_again_after_undef_means_its_new_body() -> None:
    source = """
#define R(T) REGISTER_KERNEL_BUILDER(Name("One").Device(DEVICE_GPU), OneOp<T>);
R(float)
#undef R
#define R(T) REGISTER_KERNEL_BUILDER(Name("Two").Device(DEVICE_GPU), TwoOp<T>);
R(float)
"""
    assert short(read({"a/op.cc": source})) == [("One", "GPU", "OneOp<float>", 3), ("Two", "GPU", "TwoOp<float>", 6)]


def test_a_macro_of_a_header_of_a_header() -> None:
    files = {
        "a/op.cc": '#include "a/mid.h"\nREGISTER_BINARY(GPU, "Add", add, float);\n',
        "a/mid.h": '#include "a/common.h"\n',
        "a/common.h": """
#define REGISTER_BINARY(D, N, F, T) \\
  REGISTER_KERNEL_BUILDER(Name(N).Device(DEVICE_##D), BinaryOp<D##Device, functor::F<T>>);
""",
    }
    assert short(read(files)) == [("Add", "GPU", "BinaryOp<GPUDevice, functor::add<float>>", 2)]


def test_op_names_in_pieces_quoted_or_labelled() -> None:
    source = """
#define R(op) REGISTER_KERNEL_BUILDER(Name("_" #op "V2").Device(tensorflow::DEVICE_GPU).Label("x"), (op##Op<int>));
R(Mean)
REGISTER_KERNEL_BUILDER(Name("Text").Device("GPU"), TextOp);
"""
    assert short(read({"a/op.cc": source})) == [
        ("_MeanV2", "GPU", "(MeanOp<int>)", 3),
        ("Text", "GPU", "TextOp", 4),
    ]


def test_what_is_no_registration() -> None:
    source = """
// REGISTER_KERNEL_BUILDER(Name("Comment").Device(DEVICE_GPU), Op);
const char* text = "REGISTER_KERNEL_BUILDER(Name(X).Device(DEVICE_GPU), Op)";
#define UNUSED(T) REGISTER_KERNEL_BUILDER(Name("Unused").Device(DEVICE_GPU), Op<T>);
REGISTER_OP("Shape").Output("x: int32");
REGISTER_KERNEL_BUILDER(Name(variable).Device(DEVICE_GPU), Op);
REGISTER_KERNEL_BUILDER(Name("NoDevice"), Op);
REGISTER_KERNEL_BUILDER(Name("Open").Device(DEVICE_GPU), Op
"""
    assert read({"a/op.cc": source}) == []


@given(st.text(alphabet='R()"N,#\n\\<>x ', max_size=80))
def test_broken_text_never_fails(text: str) -> None:
    source = "#define R(T) REGISTER_KERNEL_BUILDER(Name(T).Device(DEVICE_GPU), Op<T>);\n" + text
    for found in read({"a/op.cc": source}):
        assert found.device == "GPU"
