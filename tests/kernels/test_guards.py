"""Guards: the place marked ``HERE()`` in a function, and what deterministic mode does before it."""

from __future__ import annotations

import pytest

from d9mlint.kernels.guards import TENSORFLOW, TORCH, Words, guard_before
from d9mlint.kernels.source.unit import parsed
from d9mlint.model.kernel import Guard


def guard(source: str, words: Words = TENSORFLOW) -> Guard:
    data = source.encode()
    unit = parsed("a.cc", data)
    place = data.index(b"HERE()")
    node = unit.root.descendant_for_byte_range(place, place + 4)
    assert node is not None
    function = unit.function(node)
    assert function is not None
    return guard_before(unit, function.node, place, words)


def body(text: str) -> str:
    return "void Compute(OpKernelContext* ctx) {\n" + text + "\n}\n"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        # An assertion throws, where it stands on every way to the place.
        ('OP_REQUIRES(ctx, !OpDeterminismRequired(), errors::Unimplemented("no"));\nHERE();', "throws"),
        ('OP_REQUIRES_ASYNC(ctx, !tensorflow::OpDeterminismRequired(), errors::Unimplemented("no"), done);\nHERE();', "throws"),
        ('HERE();\nOP_REQUIRES(ctx, !OpDeterminismRequired(), errors::Unimplemented("no"));', "none"),
        ('if (big) {\n  OP_REQUIRES(ctx, !OpDeterminismRequired(), errors::Unimplemented("no"));\n}\nHERE();', "none"),
        ('if (big) {\n  OP_REQUIRES(ctx, !OpDeterminismRequired(), errors::Unimplemented("no"));\n  HERE();\n}', "throws"),
        ('OP_REQUIRES(ctx, OpDeterminismRequired(), errors::Unimplemented("no"));\nHERE();', "none"),
        ('OP_REQUIRES(ctx, size > 0, errors::Internal("x"));\nHERE();', "none"),
        # A condition that a GPU kernel always fulfils does not weaken it; any other one does.
        (
            "if (std::is_same<Device, GPUDevice>::value) {\n"
            '  OP_REQUIRES(ctx, !OpDeterminismRequired(), errors::Unimplemented("no"));\n}\nHERE();',
            "throws",
        ),
        (
            "if (!std::is_same<Device, GPUDevice>::value) {\n"
            '  OP_REQUIRES(ctx, !OpDeterminismRequired(), errors::Unimplemented("no"));\n}\nHERE();',
            "none",
        ),
        ('OP_REQUIRES(ctx, !OpDeterminismRequired() || n == 1, errors::Unimplemented("no"));\nHERE();', "none"),
        (
            'OP_REQUIRES(ctx, !OpDeterminismRequired() || !DataTypeIsFloating(t), errors::Unimplemented("no"));\nHERE();',
            "throws",
        ),
        # The test in an ``if``.
        ('if (OpDeterminismRequired()) {\n  return errors::Unimplemented("no");\n}\nHERE();', "throws"),
        ("if (OpDeterminismRequired()) {\n  return Sorted();\n}\nHERE();", "other-path"),
        ("if (OpDeterminismRequired()) return Sorted();\nHERE();", "other-path"),
        ("if (OpDeterminismRequired()) {\n  threads = 1;\n}\nHERE();", "none"),
        ("if (OpDeterminismRequired()) {\n  HERE();\n}", "none"),
        ("if (OpDeterminismRequired()) {\n  Sorted();\n} else {\n  HERE();\n}", "other-path"),
        ("if (!OpDeterminismRequired()) {\n  HERE();\n}", "other-path"),
        ("if (!OpDeterminismRequired()) {\n  Fast();\n} else {\n  HERE();\n}", "none"),
        ("if (OpDeterminismRequired() && n > 4) {\n  Sorted();\n} else {\n  HERE();\n}", "none"),
        ("if (OpDeterminismRequired() || n > 4) {\n  Sorted();\n} else {\n  HERE();\n}", "other-path"),
        (
            "if (std::is_same<Device, GPUDevice>::value && OpDeterminismRequired()) {\n  return OnCpu();\n}\nHERE();",
            "other-path",
        ),
        ("if (n > 4) {\n  if (OpDeterminismRequired()) return Sorted();\n}\nHERE();", "none"),
        ("for (int i = 0; i < n; ++i) {\n  if (OpDeterminismRequired()) return;\n  HERE();\n}", "other-path"),
        ("auto f = OpDeterminismRequired() ? Sorted() : HERE();", "other-path"),
        ("switch (n) {\n  case 1:\n    if (OpDeterminismRequired()) return;\n    break;\n  case 2:\n    HERE();\n}", "none"),
        # The answer in a variable.
        ("const bool exact = OpDeterminismRequired();\nif (exact) {\n  Sorted();\n} else {\n  HERE();\n}", "other-path"),
        ("bool fast = !RequireDeterminism();\nif (fast) {\n  HERE();\n}", "other-path"),
        (
            "bool exact = UseSorted() || (!Associative<T>::value && OpDeterminismRequired());\n"
            "bool met = exact || Associative<T>::value || !OpDeterminismRequired() || DisableDeterminismExceptions();\n"
            'OP_REQUIRES(ctx, met, errors::Unimplemented("no"));\nHERE();',
            "throws",
        ),
        ("int threads = OpDeterminismRequired() ? 1 : 8;\nHERE();", "none"),
        # Not code.
        ('// if (OpDeterminismRequired()) return;\nLOG(INFO) << "OpDeterminismRequired()";\nHERE();', "none"),
    ],
)  # fmt: skip
def test_tensorflow(text: str, level: str) -> None:
    assert guard(body(text)).level == level


def test_the_place_of_a_guard_is_that_of_its_test() -> None:
    found = guard(body("if (OpDeterminismRequired()) {\n  return;\n}\nHERE();"))
    assert found.where is not None
    assert (found.where.path, found.where.line, found.where.column) == ("a.cc", 2, 5)


def test_of_two_guards_the_stronger_one_counts() -> None:
    text = (
        'if (OpDeterminismRequired()) return;\nOP_REQUIRES(ctx, !OpDeterminismRequired(), errors::Unimplemented(""));'
    )
    assert guard(body(text + "\nHERE();")).level == "throws"


def test_an_environment_variable_through_a_predicate_of_the_file() -> None:
    source = """
bool WantExact() {
  static bool exact = [] {
    bool value = false;
    TF_CHECK_OK(ReadBoolFromEnvVar("TF_DETERMINISTIC_OPS", false, &value));
    return value;
  }();
  return exact;
}
void Launch() {
  if (WantExact()) {
    Sorted();
  } else {
    HERE();
  }
}
"""
    assert guard(source).level == "other-path"


def test_a_member_that_the_constructor_sets() -> None:
    source = """
class SumOp : public OpKernel {
  explicit SumOp(OpKernelConstruction* ctx) : OpKernel(ctx) { exact_ = OpDeterminismRequired(); }
  void Compute(OpKernelContext* ctx) override {
    if (exact_) {
      return;
    }
    HERE();
  }
  bool exact_;
};
"""
    assert guard(source).level == "other-path"


def test_a_local_variable_of_another_function_means_nothing_here() -> None:
    source = """
void Other() { bool exact = OpDeterminismRequired(); }
void Compute(bool exact) {
  if (exact) return;
  HERE();
}
"""
    assert guard(source).level == "none"


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ('globalContext().alertNotDeterministic("put_");\nHERE();', "throws"),
        ('at::globalContext().alertNotDeterministic("put_");\nHERE();', "throws"),
        ('if (accumulate) {\n  at::globalContext().alertNotDeterministic("put_");\n}\nHERE();', "none"),
        ('if (self.is_cuda()) {\n  at::globalContext().alertNotDeterministic("put_");\n}\nHERE();', "throws"),
        ('HERE();\nat::globalContext().alertNotDeterministic("put_");', "none"),
        ("if (globalContext().deterministicAlgorithms()) {\n  return sorted(self);\n}\nHERE();", "other-path"),
        ("if (accumulate || at::globalContext().deterministicAlgorithms()) {\n  sorted();\n} else {\n  HERE();\n}", "other-path"),
        ("if (at::globalContext().deterministicAlgorithms() && n > 1) {\n  sorted();\n} else {\n  HERE();\n}", "none"),
        ("if (at::globalContext().deterministicAlgorithms() && self.is_cuda()) {\n  return sorted();\n}\nHERE();", "other-path"),
        ('TORCH_CHECK(!at::globalContext().deterministicAlgorithms(), "no");\nHERE();', "throws"),
        ("const auto& ctx = at::globalContext();\nif (C10_UNLIKELY(ctx.deterministicAlgorithms())) return;\nHERE();", "other-path"),
    ],
)  # fmt: skip
def test_torch(text: str, level: str) -> None:
    assert guard("void put_kernel(Tensor& self) {\n" + text + "\n}\n", TORCH).level == level


@pytest.mark.parametrize("cut", range(0, 150, 7))
def test_truncated_sources_never_fail(cut: int) -> None:
    source = body(
        "if (OpDeterminismRequired()) {\n  Sorted();\n} else {\n  HERE();\n}\nbool x = !RequireDeterminism();"
    )
    data = source[: len(source) - cut].encode()
    unit = parsed("a.cc", data)
    for function in unit.functions():
        guard_before(unit, function.node, max(0, function.node.end_byte - 1), TENSORFLOW)
