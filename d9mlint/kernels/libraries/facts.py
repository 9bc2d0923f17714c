"""What vendors document about the determinism of GPU library calls, each entry with its source."""

from __future__ import annotations

from typing import NamedTuple

LIBRARY_RULE = "nondeterministic-library-call"
WORKSPACE_RULE = "cublas-workspace"

CUDNN = "https://docs.nvidia.com/deeplearning/cudnn/latest/developer/misc.html#reproducibility-determinism"
CUBLAS = "https://docs.nvidia.com/cuda/cublas/index.html#results-reproducibility"
CUSPARSE = "https://docs.nvidia.com/cuda/cusparse/"
CUB_SCAN = (
    "https://github.com/NVIDIA/cub/pull/432 and CUB 1.17.0's known issues (github.com/NVIDIA/cub/discussions/475)"
)
CUB_BY_KEY = "https://github.com/NVIDIA/cub/issues/441, https://github.com/NVIDIA/cccl/issues/9995"
THRUST = "https://github.com/NVIDIA/thrust/issues/1587, https://github.com/NVIDIA/cccl/issues/794"


class Constant(NamedTuple):
    """A named algorithm or mode; ``backward`` names the routine for which alone it is documented to vary."""

    name: str
    says: str
    source: str
    backward: str = ""


class Routine(NamedTuple):
    """A routine whose result varies; for ``floats`` only where the values are floating point (integer sums are exact).

    ``scopes``: names one of which must stand before it (``cub::DeviceScan::``); ``values``: the places of the
    arguments that hold the values, counted without an execution policy.
    """

    name: str
    says: str
    source: str
    scopes: tuple[str, ...] = ()
    floats: bool = False
    values: tuple[int, ...] = ()
    operator: int | None = None
    """The place of the binary operator; a minimum or maximum is exact."""


class Sparse(NamedTuple):
    """A cuSPARSE product: the places of the operation on the sparse matrix, the compute type and the algorithm."""

    name: str
    operation: int
    compute: int
    algorithm: int
    exact: tuple[str, ...]
    """Algorithms documented to give the same bits in each run, as long as the sparse matrix is not transposed."""
    source: str = CUSPARSE


_ATOMICS = "cuDNN documents that it uses atomic operations, so rounding differs from run to run"

CONSTANTS = {
    c.name: c
    for c in (
        Constant("CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0", _ATOMICS, CUDNN),
        Constant("CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3", _ATOMICS, CUDNN),
        Constant("CUDNN_CONVOLUTION_BWD_DATA_ALGO_0", _ATOMICS, CUDNN),
        Constant("CUDNN_POOLING_MAX", _ATOMICS, CUDNN, backward="cudnnPoolingBackward"),
        # The header has the first spelling, NVIDIA's documentation the second.
        Constant("CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC", _ATOMICS, CUDNN),
        Constant("CUDNN_CTC_LOSS_ALGO_NON_DETERMINSTIC", _ATOMICS, CUDNN),
        Constant("CUBLAS_ATOMICS_ALLOWED", "lets cuBLAS add with atomics, so results vary", CUBLAS),
        Constant(
            "CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC",
            "the algorithm that cuSPARSE itself calls nondeterministic",
            CUSPARSE,
        ),
    )
}  # fmt: skip

_LOOK_BACK = "sums floats in an order that depends on which thread block is ready first (decoupled look-back)"


def _scan(name: str, values: tuple[int, ...], operator: int | None = None) -> Routine:
    return Routine(name, _LOOK_BACK, CUB_SCAN, ("DeviceScan",), True, values, operator)


def _thrust(name: str, values: tuple[int, ...], operator: int | None = None) -> Routine:
    return Routine(name, _LOOK_BACK, THRUST, ("thrust",), True, values, operator)


ROUTINES: tuple[Routine, ...] = (
    Routine("cudnnSpatialTfSamplerBackward", _ATOMICS, CUDNN),
    # Arguments of CUB: temporary storage, its size, then input, output ...
    _scan("ExclusiveSum", (2, 3)),
    _scan("InclusiveSum", (2, 3)),
    _scan("ExclusiveScan", (2, 3), 4),
    _scan("InclusiveScan", (2, 3), 4),
    _scan("InclusiveScanInit", (2, 3), 4),
    _scan("ExclusiveSumByKey", (3, 4)),
    _scan("InclusiveSumByKey", (3, 4)),
    _scan("ExclusiveScanByKey", (3, 4), 5),
    _scan("InclusiveScanByKey", (3, 4), 5),
    Routine("ReduceByKey", _LOOK_BACK, CUB_BY_KEY, ("DeviceReduce",), True, (4, 5), 7),
    _thrust("reduce_by_key", (2, 4), 6),
    _thrust("inclusive_scan_by_key", (2, 3), 5),
    _thrust("exclusive_scan_by_key", (2, 3), 6),
    _thrust("inclusive_scan", (0, 2), 3),
    _thrust("exclusive_scan", (0, 2), 4),
    _thrust("transform_inclusive_scan", (0, 2), 4),
    _thrust("transform_exclusive_scan", (0, 2), 5),
)

SPARSE: tuple[Sparse, ...] = (
    Sparse(
        "cusparseSpMM", 1, 8, 9, ("CUSPARSE_SPMM_COO_ALG2", "CUSPARSE_SPMM_CSR_ALG3", "CUSPARSE_SPMM_BSR_ALG1")
    ),
    Sparse(
        "cusparseSpMV", 1, 7, 8, ("CUSPARSE_SPMV_COO_ALG2", "CUSPARSE_SPMV_CSR_ALG2", "CUSPARSE_SPMV_BSR_ALG1")
    ),
)  # fmt: skip

HANDLES = ("cublasCreate", "cublasCreate_v2")
"""What makes a cuBLAS handle: with several streams on it, results depend on which workspace a call gets."""
WORKSPACES = (b"CUBLAS_WORKSPACE_CONFIG", b"cublasSetWorkspace")
"""What gives it a workspace of its own; then nothing varies."""
