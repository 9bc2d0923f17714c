"""Library calls that are documented to vary, found where they are code and judged by what they are given."""

from __future__ import annotations

import pytest

from d9mlint.kernels.libraries.finding import find
from d9mlint.kernels.source.repository import Repository


def calls(text: str, path: str = "a.cu", **more: str) -> list[tuple[int, str, str]]:
    """Line, name and verdict of each call."""
    files = {path: text, **{name.replace("_", "."): other for name, other in more.items()}}
    found = find(Repository(files, lambda name: files[name].encode()))
    return [(one.call.location.line, one.call.name, one.call.verdict) for one in found]


def verdict(body: str, head: str = "float *x, float *y, int *k, int n") -> str:
    found = calls(f"void f({head}, cudaStream_t s) {{\n  {body}\n}}\n")
    assert len(found) <= 1
    return found[0][2] if found else ""


CHOICES = """
#include <cudnn.h>
void backward(cudnnHandle_t h, bool exact) {
  cudnnConvolutionBwdFilterAlgo_t algo = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;  // CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3
  const char* name = "CUDNN_CONVOLUTION_BWD_DATA_ALGO_0";
  cudnnConvolutionBackwardData(h, a, w, b, y, c, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, p, n, d, e, x);
  algo = exact ? CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 : CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
  if (algo == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3) return;
  cudnnSpatialTfSamplerBackward(h, st, a, x, dx, b, dxd, ydd, dy, grid, c, dgrid);
  cudnnCTCLossAlgo_t ctc = CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC;
}
"""


def test_choices_are_told_from_comments_strings_and_comparisons() -> None:
    assert calls(CHOICES) == [
        (4, "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0", "yes"),
        (6, "CUDNN_CONVOLUTION_BWD_DATA_ALGO_0", "yes"),
        (7, "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3", "conditional"),
        (8, "CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3", "depends"),
        (9, "cudnnSpatialTfSamplerBackward", "yes"),
        (10, "CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC", "yes"),
    ]


TABLES = """
#include <cudnn.h>
enum Mine { CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 = 0 };
const char* name(cudnnConvolutionBwdDataAlgo_t a) {
  switch (a) {
    case CUDNN_CONVOLUTION_BWD_DATA_ALGO_0: return "0";
  }
}
cudnnConvolutionBwdFilterAlgo_t from(int n) {
  switch (n) {
    case 0: return CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;
  }
}
cudnnConvolutionBwdFilterAlgo_t all[] = {
  CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT,
};
"""


def test_tables_of_all_algorithms_choose_nothing() -> None:
    assert {(line, v) for line, _, v in calls(TABLES, "a.cc")} == {(6, "depends"), (11, "depends"), (15, "depends")}


def test_max_pooling_varies_only_backward() -> None:
    text = "void f(D d) {\n  cudnnSetPooling2dDescriptor(d, CUDNN_POOLING_MAX, NAN, 2, 2, 0, 0, 2, 2);\n%s}\n"
    assert calls(text % "", "a.cc") == [(2, "CUDNN_POOLING_MAX", "depends")]
    assert calls(text % "  cudnnPoolingBackward(h, d);\n", "a.cc") == [(2, "CUDNN_POOLING_MAX", "yes")]
    assert calls(text.replace("MAX", "MAX_DETERMINISTIC") % "  cudnnPoolingBackward(h, d);\n", "a.cc") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("cub::DeviceScan::InclusiveSum(t, bytes, x, y, n, s);", "yes"),
        ("cub::DeviceScan::InclusiveSum(t, bytes, k, k, n, s);", ""),
        ("cub::DeviceScan::InclusiveScan(t, bytes, x, y, cub::Max(), n, s);", ""),
        ("cub::DeviceReduce::Sum(t, bytes, x, y, n, s);", ""),
        ("cub::DeviceReduce::ReduceByKey(t, bytes, k, k, x, y, k, cub::Sum(), n, s);", "yes"),
        ("cub::DeviceReduce::ReduceByKey(t, bytes, k, k, k, k, k, cub::Sum(), n, s);", ""),
        ("thrust::reduce_by_key(thrust::device, k, k + n, x, k, y);", "yes"),
        ("thrust::reduce_by_key(thrust::cuda::par.on(s), k, k + n, thrust::make_constant_iterator(1), k, k);", ""),
        ("thrust::inclusive_scan_by_key(k, k + n, thrust::device_pointer_cast(x), y);", "yes"),
        ("thrust::exclusive_scan(thrust::device, k, k + n, k);", ""),
        ("thrust::device_vector<double> v(n); thrust::inclusive_scan(v.begin(), v.end(), v.begin());", "yes"),
        ("thrust::reduce_by_key(k, k + n, what(), k, something);", "unknown"),
        ("std::inclusive_scan(x, x + n, y);", ""),
        ("cublasSetAtomicsMode(handle, CUBLAS_ATOMICS_ALLOWED);", "yes"),
        ("cublasSetAtomicsMode(handle, CUBLAS_ATOMICS_NOT_ALLOWED);", ""),
    ],
)
def test_types_and_operators_decide(body: str, expected: str) -> None:
    assert verdict(body) == expected


SPMM = "cusparseSpMM(h, {0}, CUSPARSE_OPERATION_NON_TRANSPOSE, &a, m, b, &z, c, {1}, {2}, buffer);"
PLAIN, FLIPPED = "CUSPARSE_OPERATION_NON_TRANSPOSE", "CUSPARSE_OPERATION_TRANSPOSE"


@pytest.mark.parametrize(
    ("operation", "compute", "algorithm", "expected"),
    [
        (PLAIN, "CUDA_R_32F", "CUSPARSE_SPMM_CSR_ALG3", ""),
        (PLAIN, "CUDA_R_32F", "CUSPARSE_SPMM_ALG_DEFAULT", "yes"),
        (PLAIN, "CUDA_R_32I", "CUSPARSE_SPMM_ALG_DEFAULT", ""),
        (FLIPPED, "CUDA_R_32F", "CUSPARSE_SPMM_CSR_ALG3", "yes"),
        ("op", "CUDA_R_32F", "CUSPARSE_SPMM_CSR_ALG3", "conditional"),
        (PLAIN, "CUDA_R_32F", "algorithm", "conditional"),
    ],
)
def test_sparse_products_by_their_algorithm(operation: str, compute: str, algorithm: str, expected: str) -> None:
    assert verdict(SPMM.format(operation, compute, algorithm)) == expected


def test_a_template_varies_with_its_floating_point_instantiation() -> None:
    text = """
#include <cub/cub.cuh>
template <typename T> void scan(T* in, T* out, int n) {
  cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n);
}
template void scan<float>(float*, float*, int);
template void scan<int>(int*, int*, int);
"""
    assert calls(text) == [(4, "InclusiveSum", "yes")]
    assert calls(text.replace("scan<float>(float*, float*", "scan<long>(long*, long*")) == []


def test_a_cublas_handle_without_a_workspace_is_told_under_its_own_rule() -> None:
    text = "void f() {\n  cublasCreate(&handle);\n}\n"
    files = {"a.cc": text, "b.cc": '// cublas\nvoid g() { setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 1); }\n'}
    files["c.h"] = "// cublasCreate(h)\ncublasStatus_t cublasCreate(cublasHandle_t* handle);\n"
    alone = find(Repository(["a.cc", "c.h"], lambda name: files[name].encode()))
    assert [(f.call.rule, f.call.verdict) for f in alone] == [("cublas-workspace", "conditional")]
    assert find(Repository(files, lambda name: files[name].encode())) == []


@pytest.mark.parametrize(
    "text", ["cub::DeviceScan::InclusiveSum(", "cusparseSpMM(", "\xff\xfecublasCreate(&h", "thrust::"]
)
def test_broken_sources_do_not_raise(text: str) -> None:
    find(Repository(["a.cu"], lambda name: text.encode("latin-1")))
