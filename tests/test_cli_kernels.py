"""``d9mlint kernels`` from the command line: exit codes, formats, suppression, baseline, and the way back to Python."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, validate

from d9mlint.catalogue import load
from d9mlint.kernels import tree

Run = Callable[..., Any]

KERNEL = """#include <torch/extension.h>

__global__ void scatter_kernel(float* out, const float* in, const int64_t* index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out + index[i], in[i]);
}

torch::Tensor scatter(torch::Tensor in, torch::Tensor index, int64_t size) {
  auto out = torch::zeros({size}, in.options());
  scatter_kernel<<<1, 256>>>(out.data_ptr<float>(), in.data_ptr<float>(), index.data_ptr<int64_t>(), in.numel());
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("scatter", &scatter);
}
"""
EXACT = """__global__ void count(int* out, const int* index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out + index[i], 1);
}
"""
SETUP = """from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="foo",
    packages=["foo"],
    ext_modules=[CUDAExtension("foo._C", ["csrc/scatter.cu"])],
    cmdclass={"build_ext": BuildExtension},
)
"""
PACKAGE = """import torch

from foo import _C


class Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values, index, size):
        ctx.save_for_backward(index)
        return _C.scatter(values, index, size)

    @staticmethod
    def backward(ctx, grad):
        (index,) = ctx.saved_tensors
        return grad[index], None, None


def scatter(values, index, size):
    return Scatter.apply(values, index, size)
"""
TRAIN = """import torch

from foo import _C, scatter


def main():
    torch.manual_seed(0)
    weights = torch.randn(100, device="cuda", requires_grad=True)
    index = torch.arange(100, device="cuda") % 10
    print(_C.scatter(weights.detach(), index, 10))
    loss = scatter(weights, index, 10).square().sum()
    loss.backward()


if __name__ == "__main__":
    main()
"""


def write(**files: str) -> None:
    for name, text in files.items():
        path = Path(name.replace("__", "/").replace("_dot_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def extension() -> None:
    """A PyTorch extension with its package and a training script, in the working directory."""
    write(csrc__scatter_dot_cu=KERNEL, setup_dot_py=SETUP, train_dot_py=TRAIN)
    Path("foo").mkdir()
    Path("foo/__init__.py").write_text(PACKAGE)


def rules(report: Any) -> list[tuple[str, str, int]]:
    return [(f["rule"], f["path"], f["line"]) for f in report["findings"]]


# -- exit codes and formats ----------------------------------------------------------------------------------------


def test_findings_are_1_and_exact_sources_0(d9mlint: Run) -> None:
    write(a__scatter_dot_cu=KERNEL, b__count_dot_cu=EXACT)
    assert d9mlint("kernels", "a").code == 1
    ran = d9mlint("kernels", "b")
    assert (ran.code, ran.err) == (0, "")
    assert "no unguarded site that can vary" in ran.out
    assert d9mlint("kernels", "a", "--fail-on", "error").code == 0


@pytest.mark.parametrize("words", [["nowhere"], ["empty"], ["notes.md"], []])
def test_nothing_to_scan_is_2(d9mlint: Run, words: list[str]) -> None:
    Path("empty").mkdir()
    Path("notes.md").write_text("atomicAdd")
    assert d9mlint("kernels", *words).code == 2


def test_a_binary_file_is_3_and_the_rest_is_scanned(d9mlint: Run) -> None:
    write(scatter_dot_cu=KERNEL)
    Path("image.cu").write_bytes(b"\x7fELF\0\0atomicAdd")
    ran = d9mlint("kernels", ".", "--format", "json")
    assert ran.code == 3
    assert [u["path"] for u in ran.json["unchecked"]] == ["image.cu"]
    assert [s["path"] for s in ran.json["sites"]] == ["scatter.cu"]


@pytest.mark.parametrize("format_", ["text", "json", "sarif", "html", "github"])
def test_every_format_is_written_byte_for_byte_the_same(d9mlint: Run, format_: str) -> None:
    extension()
    first = d9mlint("kernels", ".", "--format", format_, "--no-cache")
    d9mlint("kernels", ".", "--format", format_, "--output", "report")
    assert first.code == 1
    assert Path("report").read_text() == first.out
    assert str(Path.cwd()) not in first.out


def test_the_contract_of_a_site(d9mlint: Run) -> None:
    extension()
    found = d9mlint("kernels", ".", "--format", "json").json
    (site,) = found["sites"]
    assert (site["path"], site["line"], site["column"], site["function"]) == (
        "csrc/scatter.cu",
        5,
        14,
        "scatter_kernel",
    )
    assert (site["class"], site["verdict"], site["return_used"]) == ("float-accumulate", "yes", False)
    assert site["guard"] == {"level": "none", "where": None}
    (op,) = found["ops"]
    assert site["ops"] == [op["op"]]
    assert "foo._C.scatter" in op["python"]
    assert op["sites"] == ["csrc/scatter.cu:5"]
    assert found["files_scanned"] >= 1


def test_a_named_file_is_read_with_the_project_around_it(d9mlint: Run) -> None:
    extension()
    write(csrc__other_dot_cu=KERNEL)
    found = d9mlint("kernels", "csrc/scatter.cu", "--format", "json").json
    assert {s["path"] for s in found["sites"]} == {"csrc/scatter.cu"}
    assert found["files_scanned"] == 1
    assert found["ops"]


def test_folders_inside_folders_are_scanned_once(d9mlint: Run) -> None:
    write(a__b__scatter_dot_cu=KERNEL)
    assert len(d9mlint("kernels", "a", "a/b", "--format", "json").json["sites"]) == 1


def test_ignored_and_excluded_files_are_left_out(d9mlint: Run) -> None:
    write(a_dot_cu=KERNEL, build__b_dot_cu=KERNEL, gen__c_dot_cu=KERNEL)
    Path(".gitignore").write_text("build/\n")
    Path("d9mlint.toml").write_text('exclude = ["gen/*.cu"]\n')
    assert {s["path"] for s in d9mlint("kernels", ".", "--format", "json").json["sites"]} == {"a.cu"}
    assert len(d9mlint("kernels", "build/b.cu", "--format", "json").json["sites"]) == 1  # named, so wanted


def test_a_site_whose_finding_is_unsure_is_not_called_silenced(d9mlint: Run) -> None:
    """A kernel that nothing launches, beside one that an op launches: told with low confidence, so hidden."""
    lone = KERNEL[KERNEL.index("__global__") : KERNEL.index("torch::Tensor")].replace("scatter_kernel", "left_over")
    write(a_dot_cu=KERNEL + lone)
    ran = d9mlint("kernels", ".", "--format", "json").json
    assert [(s["function"], s["silenced"]) for s in ran["sites"]] == [("scatter_kernel", False), ("left_over", False)]
    assert (len(ran["findings"]), ran["hidden"]) == (1, 1)


# -- suppression and baseline --------------------------------------------------------------------------------------


def test_a_comment_with_a_reason_silences_a_site(d9mlint: Run) -> None:
    write(a_dot_cu=KERNEL.replace("in[i]);", "in[i]);  // d9m: ignore[float-atomic] one writer per index here", 1))
    ran = d9mlint("kernels", ".", "--format", "json")
    assert ran.code == 0
    assert ran.json["suppressed"] == 1
    assert [s["silenced"] for s in ran.json["sites"]] == [True]


@pytest.mark.parametrize(
    ("comment", "rule"),
    [
        ("  // d9m: ignore[float-atomic]", "suppression-without-reason"),
        ("  // d9m: ignore[flaot-atomic] typo", "unknown-suppression"),
    ],
)
def test_comments_that_do_nothing_are_findings(d9mlint: Run, comment: str, rule: str) -> None:
    write(a_dot_cu=KERNEL.replace("in[i]);", f"in[i]);{comment}", 1))
    found = rules(d9mlint("kernels", ".", "--format", "json").json)
    assert {r for r, _, _ in found} == {rule, "float-atomic"}


def test_an_unused_comment_is_a_finding_also_without_any_site(d9mlint: Run) -> None:
    write(a_dot_cu="// d9m: ignore[float-atomic] was there once\nint x;\n")
    assert rules(d9mlint("kernels", ".", "--format", "json").json) == [("unused-suppression", "a.cu", 1)]


def test_the_baseline_hides_what_was_there(d9mlint: Run) -> None:
    write(a_dot_cu=KERNEL)
    assert d9mlint("kernels", ".", "--write-baseline", "known.json").code == 1
    assert d9mlint("kernels", ".", "--baseline", "known.json").code == 0
    Path("a.cu").write_text("// moved\n" + KERNEL + "\n".join(KERNEL.replace("in[i])", "in[n])").split("\n")[2:6]))
    new = d9mlint("kernels", ".", "--baseline", "known.json", "--format", "json").json
    assert [(f["rule"], f["line"]) for f in new["findings"]] == [("float-atomic", 20)]
    assert new["baselined"] == 1


# -- check and the way back to Python ------------------------------------------------------------------------------


def test_check_reports_kernel_sites_of_a_mixed_tree(d9mlint: Run) -> None:
    extension()
    other = ("--ignore", "missing-torch-determinism")
    ran = d9mlint("check", ".", "--format", "json", *other)
    assert ran.code == 1
    assert rules(ran.json) == [("float-atomic", "csrc/scatter.cu", 5)]
    assert d9mlint("check", ".", "--ignore", "kernels", *other).code == 0
    assert d9mlint("check", "train.py", *other).code == 0


def test_check_of_a_folder_without_python_reports_its_kernels(d9mlint: Run) -> None:
    write(csrc__a_dot_cu=KERNEL)
    assert d9mlint("check", "csrc").code == 1


TRITON = """import triton
import triton.language as tl

@triton.jit
def kernel(out, x, index):
    i = tl.arange(0, 64)
    tl.atomic_add(out + tl.load(index + i), tl.load(x + i).to(tl.float32))

def add(out, x, index):
    kernel[(1,)](out, x, index)
"""


def test_check_reports_kernels_in_python_files_where_there_is_no_other_source(d9mlint: Run) -> None:
    write(kernels_dot_py=TRITON)
    assert rules(d9mlint("check", ".", "--format", "json").json) == [("float-atomic", "kernels.py", 7)]
    write(kernels_dot_py=TRITON.replace("32))", "32))  # d9m: ignore[float-atomic] the indices are distinct"))
    for command in ("check", "kernels"):
        ran = d9mlint(command, ".", "--format", "json")
        assert (ran.code, ran.json["findings"], ran.json["suppressed"]) == (0, [], 1)


def test_python_that_cannot_be_parsed_is_no_clean_kernel(d9mlint: Run) -> None:
    write(kernels_dot_py=TRITON + "def broken(:\n")
    for command in ("check", "kernels"):
        ran = d9mlint(command, ".", "--format", "json")
        assert (ran.code, [one["path"] for one in ran.json["unchecked"]]) == (3, ["kernels.py"])


def test_check_of_a_python_tree_never_loads_the_kernel_scanner(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("d9mlint.app.kernels.scan.scanned", lambda *_: pytest.fail("nothing to look for"))
    write(train_dot_py="if __name__ == '__main__':\n    print(1)\n")
    assert d9mlint("check", ".").code == 0


def test_what_the_scan_writes_makes_the_python_rules_report_the_calls(d9mlint: Run) -> None:
    extension()
    ran = d9mlint("kernels", ".", "--write", "ops.yaml")
    assert "wrote 1 op to ops.yaml" in ran.err
    (op,) = load([Path("ops.yaml")], cache=False).ops[-1:]
    assert (op.name, op.framework, op.status[0].deterministic_mode) == ("foo._C.scatter", "torch", "varies")
    assert op.sites == (f"{Path.cwd().as_posix()}/csrc/scatter.cu:5",)

    Path("d9mlint.toml").write_text('catalogues = ["ops.yaml"]\n')
    found = d9mlint("train.py", "--format", "json", "--select", "nondeterministic-op").json["findings"]
    assert [(f["rule"], f["path"], f["line"]) for f in found] == [("nondeterministic-op", "train.py", 10)]
    assert "`foo._C.scatter`" in found[0]["message"]
    # A wrapper in a module of the project stands for the op, as it would if the package were installed.
    places = [("train.py", 11), ("csrc/scatter.cu", 5), ("foo/__init__.py", 19)]
    assert [(r["path"], r["line"]) for r in found[0]["related"]] == places


def test_silenced_sites_are_not_written(d9mlint: Run) -> None:
    extension()
    text = KERNEL.replace("in[i]);", "in[i]);  // d9m: ignore[float-atomic] indices are distinct", 1)
    Path("csrc/scatter.cu").write_text(text)
    assert "wrote 0 ops" in d9mlint("kernels", ".", "--write", "ops.yaml").err
    assert not [op for op in load([Path("ops.yaml")], cache=False).ops if op.sites]


def test_an_op_file_elsewhere_still_leads_to_the_kernel(d9mlint: Run) -> None:
    extension()
    Path("conf").mkdir()
    d9mlint("kernels", ".", "--write", "conf/ops.yaml")
    assert "../csrc/scatter.cu:5" in Path("conf/ops.yaml").read_text()
    Path("d9mlint.toml").write_text('catalogues = ["conf/ops.yaml"]\n')
    found = d9mlint("train.py", "--format", "json").json["findings"]
    assert "csrc/scatter.cu" in {place["path"] for one in found for place in one["related"]}


# -- cache ---------------------------------------------------------------------------------------------------------


def test_a_scan_is_remembered_until_a_file_changes(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(a_dot_cu=KERNEL)
    os.utime("a.cu", (1e9, 1e9))
    first = d9mlint("kernels", ".", "--format", "json").out
    with monkeypatch.context() as patch:
        patch.setattr(tree, "_bytes", lambda path: pytest.fail("read again"))
        assert d9mlint("kernels", ".", "--format", "json").out == first
    Path("a.cu").write_text(EXACT)
    os.utime("a.cu", (1e9 + 1, 1e9 + 1))
    assert json.loads(d9mlint("kernels", ".", "--format", "json").out)["sites"][0]["verdict"] == "no"


def test_without_cache_nothing_is_kept(d9mlint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write(a_dot_cu=KERNEL)
    os.utime("a.cu", (1e9, 1e9))
    d9mlint("kernels", ".", "--no-cache")
    assert not (tmp_path / "cache" / "d9mlint" / "kernels").exists()
    d9mlint("kernels", ".")
    assert list((tmp_path / "cache" / "d9mlint" / "kernels").rglob("*"))


# -- what is written about it --------------------------------------------------------------------------------------


def test_the_hook_runs_a_command_that_exists() -> None:
    import click
    import yaml

    from d9mlint.cli.main import cli

    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    hook = hooks["d9mlint-kernels"]
    assert hook["entry"].split() == ["d9mlint", "kernels"]
    assert cli.get_command(click.Context(cli), "kernels") is not None
    assert (hook["args"], hook["pass_filenames"], hook["require_serial"]) == (["."], False, True)


def test_real_reports_fit_the_schema(d9mlint: Run) -> None:
    extension()
    write(more__count_dot_cu=EXACT, more__handle_dot_cc="#include <cublas_v2.h>\nvoid f() { cublasCreate(&h); }\n")
    validate(d9mlint("kernels", ".", "--format", "json").json, "kernels")
