"""Functions and methods of CUDA and of libraries whose name says what type they give. Data only."""

from __future__ import annotations

import re

from d9mlint.kernels.judging.known.scalars import words

CASTS = ("static_cast", "reinterpret_cast", "const_cast", "bit_cast", "declareSharedVar")
"""What has the type of its first template argument; the last is alpaka's name for a shared variable."""
CONVERSIONS = {
    "__float_as_int": "int",
    "__float_as_uint": "unsigned int",
    "float_as_int": "int",
    "__double_as_longlong": "long long int",
    "__int_as_float": "float",
    "__uint_as_float": "float",
    "__longlong_as_double": "double",
    "__half2float": "float",
    "__bfloat162float": "float",
    "__float2half": "__half",
    "__float2half_rn": "__half",
    "__float2bfloat16": "__nv_bfloat16",
    "__half_as_ushort": "unsigned short",
    "__ushort_as_half": "__half",
    "__float2int_rd": "int",
    "float2int": "int",
    "__popc": "int",
    "__popcll": "int",
    "__ballot_sync": "unsigned int",
    "clock64": "long long int",
}
"""CUDA C++ Programming Guide and CUDA Math API: conversions whose name says the type."""
SAME = words(
    "ldg __ldg GpuLdg __ldcs __ldcg fabs fabsf abs sqrt sqrtf exp expf log logf pow powf fmin fminf fmax fmaxf min max"
    " create_scatter_view subview create_mirror_view getLocalViewDevice"
    " floor floorf ceil ceilf __shfl_down_sync __shfl_xor_sync __shfl_down __shfl_xor __shfl_sync move forward"
)
"""Functions whose result has the type of their first argument (``ldg`` of what it points to)."""
POINTEES = words("ldg __ldg GpuLdg __ldcs __ldcg")
RANGES = words("CudaGridRangeX CudaGridRangeY CudaGridRangeZ GpuGridRangeX GpuGridRangeY GpuGridRangeZ")
VECTORS = re.compile(r"(?:float|double|int|uint|long|longlong|half|short|char|__half|u?char|ulonglong)[1-4]\Z")


VIEWS = words(
    "local_tile local_partition group_modes flatten filter filter_zeros coalesce logical_divide zipped_divide"
    " tiled_divide flat_divide composition make_tensor_like make_fragment_like as_position_independent_swizzle_tensor"
    " take select raw_pointer_cast make_gmem_ptr make_smem_ptr make_rmem_ptr recast_ptr make_tensor"
    " Reshape reshape make_view make_span span"
)
POINTING = re.compile(r"(?:\A|_|[dm])(?:data_?)?[pP]tr_?\Z|\A(?:mutable_|const_)?data_?\Z")
"""Members of tensors that point to their elements: ``data_ptr``, ``dptr_``, ``Ptr``, ``mutable_data``."""
MADE = re.compile(
    r"(?:[Mm]ake|[Cc]reate)_?\w+\Z|[A-Z]\w*(?:[Ww]rap|[Vv]iew|[Aa]ccessor|[Ss]pan|[Aa]rray|[Tt]ensor)\w*\Z"
)
"""What makes a view of its first template argument: ``make_device_vector<int>(n)``, ``TensorWrap<int>(x)``."""
PARTITIONS = re.compile(r"(?:partition|retile)(?:_fragment)?(?:_[A-DS])?\Z")
"""CuTe (NVIDIA/cutlass, include/cute): functions and methods whose result has the elements of what they are given."""
