"""What atomics are called: CUDA, HIP, the wrappers of frameworks, the members of ``cuda::atomic``. Data only."""

from __future__ import annotations

from typing import NamedTuple

_CUDA = ("Add", "Sub", "Exch", "Min", "Max", "Inc", "Dec", "CAS", "And", "Or", "Xor")
_SCOPES = (("", "device"), ("_block", "block"), ("_system", "system"))


class Known(NamedTuple):
    """What a name means: the CUDA atomic, the scope, and whether it is a wrapper of a framework."""

    intrinsic: str
    scope: str = "device"
    wrapper: bool = False


def _cuda() -> dict[str, Known]:
    """CUDA C++ Programming Guide, "Atomic Functions"."""
    return {f"atomic{op}{suffix}": Known(f"atomic{op}", scope) for op in _CUDA for suffix, scope in _SCOPES}


_FETCH = {
    "fetch_add": "atomicAdd", "fetch_sub": "atomicSub", "fetch_and": "atomicAnd", "fetch_or": "atomicOr",
    "fetch_xor": "atomicXor", "fetch_min": "atomicMin", "fetch_max": "atomicMax",
}  # fmt: skip

MEMBERS = _FETCH | {
    "exchange": "atomicExch",
    "compare_exchange_strong": "atomicCAS",
    "compare_exchange_weak": "atomicCAS",
}
"""Members of ``cuda::atomic`` and ``cuda::atomic_ref`` that read and write (libcu++, "Extended API: atomics")."""


def _builtins() -> dict[str, Known]:
    """``__hip_atomic_*`` (clang, "HIP Support") and ``__nv_atomic_*`` (CUDA C++ Programming Guide, 12.8 and later)."""
    found: dict[str, Known] = {}
    for name, intrinsic in MEMBERS.items():
        found[f"__hip_atomic_{name}"] = Known(intrinsic, "system")
    for op in ("add", "sub", "and", "or", "xor", "min", "max"):
        found[f"__nv_atomic_fetch_{op}"] = found[f"__nv_atomic_{op}"] = Known(_FETCH[f"fetch_{op}"], "system")
    for suffix in ("", "_n"):
        found[f"__nv_atomic_exchange{suffix}"] = Known("atomicExch", "system")
        found[f"__nv_atomic_compare_exchange{suffix}"] = Known("atomicCAS", "system")
    return found


READS = "load"
"""In place of an atomic of CUDA: it changes nothing, and so makes no wrapper of the function around it."""
WAITS, PASSES = "wait", "pass"
"""In place of an atomic of CUDA: a block waits for its turn, or passes it on to who waits."""
SCOPE_WORDS = {
    "__HIP_MEMORY_SCOPE_SINGLETHREAD": "block", "__HIP_MEMORY_SCOPE_WAVEFRONT": "block",
    "__HIP_MEMORY_SCOPE_WORKGROUP": "block", "__HIP_MEMORY_SCOPE_AGENT": "device",
    "__HIP_MEMORY_SCOPE_SYSTEM": "system", "__NV_THREAD_SCOPE_THREAD": "block", "__NV_THREAD_SCOPE_BLOCK": "block",
    "__NV_THREAD_SCOPE_CLUSTER": "block", "__NV_THREAD_SCOPE_DEVICE": "device", "__NV_THREAD_SCOPE_SYSTEM": "system",
    "thread_scope_thread": "block", "thread_scope_block": "block", "thread_scope_device": "device",
    "thread_scope_system": "system",
    "memory_scope::work_item": "block", "memory_scope::sub_group": "block", "memory_scope::work_group": "block",
    "memory_scope::device": "device", "memory_scope::system": "system",
}  # fmt: skip
"""Scope arguments of the builtins, of ``cuda::atomic`` and of ``sycl::atomic_ref``."""


def _hip() -> dict[str, Known]:
    """amd_hip_atomic.h and amd_hip_unsafe_atomics.h of ROCm/clr; atomics that return nothing, from older HIP."""
    found = {f"{kind}Atomic{op}": Known(f"atomic{op}") for kind in ("safe", "unsafe") for op in ("Add", "Max", "Min")}
    found["atomicAddNoRet"] = Known("atomicAdd")
    for space in ("global", "flat", "ds"):
        for op, intrinsic in (("fadd", "atomicAdd"), ("fmin", "atomicMin"), ("fmax", "atomicMax")):
            for kind in ("f32", "f64", "v2f16", "v2bf16"):
                found[f"__builtin_amdgcn_{space}_atomic_{op}_{kind}"] = Known(intrinsic)
    for name in BUFFER_BUILTINS:
        op = name.rpartition("_atomic_")[2].partition("_")[0].removeprefix("f")
        found[name] = Known(f"atomic{op.capitalize()}")
    return found


def _buffers() -> dict[str, str]:
    found: dict[str, str] = {}
    for kind, types in (("fadd", ("f32", "v2f16", "v2bf16")), ("fmin", ("f32", "f64")), ("fmax", ("f32", "f64")),
                        ("add", ("i32",))):  # fmt: skip
        for typed in types:
            for layout in ("raw", "raw_ptr", "struct", "struct_ptr"):
                found[f"__builtin_amdgcn_{layout}_buffer_atomic_{kind}_{typed}"] = (
                    f"llvm.amdgcn.{layout.replace('_', '.')}.buffer.atomic.{kind}.{typed}"
                )
    return found


BUFFER_BUILTINS = _buffers()
"""Builtins of clang that work on buffers of AMD GPUs, each with LLVM's intrinsic (BuiltinsAMDGPU.td)."""


def _wrappers() -> dict[str, Known]:
    """Device functions of frameworks that sources call without holding their definition."""
    # TensorFlow up to 1.14 (core/util/cuda_device_functions.h), from 1.15 (core/util/gpu_device_functions.h).
    tensorflow = {"Add": "Add", "Sub": "Sub", "Max": "Max", "Min": "Min", "Mul": "CAS", "Div": "CAS"}
    found = {f"{p}Atomic{op}": f"atomic{at}" for p in ("Cuda", "Gpu") for op, at in tensorflow.items()}
    # PyTorch: aten/src/ATen/cuda/Atomic.cuh, aten/src/ATen/native/cuda/KernelUtils.cuh.
    found |= {"gpuAtomicAdd": "atomicAdd", "gpuAtomicAddNoReturn": "atomicAdd", "gpuAtomicMul": "atomicCAS",
              "gpuAtomicMax": "atomicMax", "gpuAtomicMin": "atomicMin", "fastAtomicAdd": "atomicAdd",
              "fastSpecializedAtomicAdd": "atomicAdd", "opportunistic_fastAtomicAdd": "atomicAdd"}  # fmt: skip
    # pytorch_scatter and older THC (THCAtomics.cuh); Caffe (util/gpu_util.cuh); PaddlePaddle (gpu_primitives.h).
    found |= {"atomAdd": "atomicAdd", "atomMul": "atomicCAS", "atomDiv": "atomicCAS", "atomMax": "atomicMax",
              "atomMin": "atomicMin", "caffe_gpu_atomic_add": "atomicAdd", "caffe_gpu_atomic_max": "atomicMax",
              "caffe_gpu_atomic_min": "atomicMin", "CudaAtomicAddWithWarp": "atomicAdd",
              "fastAtomicAddNoReturn": "atomicAdd"}  # fmt: skip
    # RAFT (raft/util/cuda_dev_essentials.cuh, raft/util/device_atomics.cuh).
    found |= {"myAtomicAdd": "atomicAdd", "myAtomicMin": "atomicMin", "myAtomicMax": "atomicMax"}  # fmt: skip
    return {name: Known(intrinsic, wrapper=True) for name, intrinsic in found.items()}


KNOWN: dict[bytes, Known] = {
    name.encode(): known for name, known in (_cuda() | _builtins() | _hip() | _wrappers()).items()
}
"""Functions that are atomics whatever the sources hold, by last name."""

FOREIGN = frozenset({"std", "boost", "tbb", "Kokkos", "desul", "sycl", "folly", "absl", "opencl", "metal"})
"""Namespaces whose functions of such names are not CUDA's."""

PORTABLE = frozenset({"Kokkos", "desul", "RAJA", "alpaka", "dpct", "syclcompat", "sycl"})
"""Namespaces of libraries for devices of several vendors, whose own atomics are known by ``QUALIFIED``."""


def _portable() -> dict[bytes, Known]:
    """Kokkos, "Atomics" (https://kokkos.org/kokkos-core-wiki/API/core/atomics.html); desul's are called alike."""
    operations = {"add": "Add", "sub": "Sub", "min": "Min", "max": "Max", "and": "And", "or": "Or", "xor": "Xor",
                  "inc": "Inc", "dec": "Dec", "mul": "CAS", "div": "CAS"}  # fmt: skip
    found = {f"{name}": at for op, at in operations.items()
             for name in (f"atomic_{op}", f"atomic_fetch_{op}", f"atomic_{op}_fetch")}  # fmt: skip
    found |= {"atomic_increment": "Inc", "atomic_decrement": "Dec", "atomic_exchange": "Exch"}
    found |= {"atomic_assign": "Exch", "atomic_store": "Exch"}
    found |= {f"atomic_compare_exchange{suffix}": "CAS" for suffix in ("", "_strong")}
    # RAJA, "Atomics" (https://raja.readthedocs.io/en/develop/sphinx/user_guide/feature/atomic.html); most are CUDA's.
    found |= {"atomicExchange": "Exch", "atomicStore": "Exch"}
    # SYCLomatic (dpct/atomic.hpp; also as syclcompat in oneAPI): an increment and a decrement that wrap around.
    found |= {"atomic_fetch_compare_inc": "Inc", "atomic_fetch_compare_dec": "Dec"}
    # alpaka, "Cheatsheet" (https://alpaka.readthedocs.io/en/latest/basic/cheatsheet.html); most are called like CUDA's.
    found |= {"atomicCas": "CAS"}
    return {name.encode(): Known(f"atomic{at}") for name, at in found.items()} | {
        name: known for name, known in KNOWN.items() if name.startswith(b"atomic") and not known.wrapper
    }


BY_TEMPLATE = "by template"
"""In place of an atomic of CUDA: it is the operation that an argument of the template names (``TAGS``)."""
TAGS = {f"Atomic{op}": f"atomic{op}" for op in _CUDA} | {"AtomicCas": "atomicCAS"}
"""``alpaka::atomicOp<alpaka::AtomicAdd>(acc, &x, value)``."""

TAGGED = frozenset({"atomicOp"})
"""Functions that do so."""

QUALIFIED: dict[bytes, Known] = _portable() | {name.encode(): Known(BY_TEMPLATE) for name in TAGGED}
"""Functions that are atomics where a namespace of ``PORTABLE`` stands before them."""

EITHER: dict[bytes, Known] = KNOWN | QUALIFIED
"""All of them: what is looked for where a source names such a namespace."""


def portable(data: bytes) -> bool:
    """Whether a source names one of those libraries."""
    return any(name in data for name in _PORTABLE)


_PORTABLE = tuple(sorted(f"{name}::".encode() for name in PORTABLE))

INTRINSICS = frozenset(name.decode() for name, known in KNOWN.items() if not known.wrapper)
"""Those that the compiler provides; overloads of them in a source do not change what they do."""

DEVICE_WORDS = (b"__global__", b"__device__", b"DEVICE", b"<<<", b"sycl::")
"""What only a source with device code holds."""

QUALIFIERS = {
    b"__global__": "__global__", b"__device__": "__device__", b"__host__": "__host__",
    b"EIGEN_DEVICE_FUNC": "__host__ __device__", b"C10_DEVICE": "__device__", b"C10_HOST": "__host__",
    b"C10_HOST_DEVICE": "__host__ __device__", b"GPU_LAMBDA": "__host__ __device__",
    b"TF_DEVICE": "__device__", b"CUTLASS_DEVICE": "__device__", b"CUTLASS_HOST_DEVICE": "__host__ __device__",
    b"CUTLASS_GLOBAL": "__global__", b"CUTE_DEVICE": "__device__", b"CUTE_HOST_DEVICE": "__host__ __device__",
    b"HOSTDEVICE": "__host__ __device__", b"CUB_RUNTIME_FUNCTION": "__host__ __device__",
    b"THRUST_DEVICE_FUNCTION": "__device__", b"KOKKOS_FUNCTION": "__host__ __device__",
    b"KOKKOS_INLINE_FUNCTION": "__host__ __device__", b"KOKKOS_FORCEINLINE_FUNCTION": "__host__ __device__",
}  # fmt: skip
"""Words before a function that say where it runs: CUDA's, and those of libraries whose headers are not at hand."""
