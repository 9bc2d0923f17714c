"""Which type names are floating point, which are integers."""

from __future__ import annotations

import functools
import re


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_FLOATS = words(
    "float double half __half Half half2 __half2 Half2 half_t bfloat16 BFloat16 bfloat16_t nv_bfloat16 __nv_bfloat16"
    " nv_bfloat162 __nv_bfloat162 bfloat162 float16 float16_t float32_t float64_t float2 float3 float4 double2 double3"
    " double4 __hip_bfloat16 __hip_bfloat162 hip_bfloat16 _Float16 nv_half nv_half2 __bfloat16"
    " float_e4m3_t float_e5m2_t tfloat32_t f32 f16 bf16 f16x2 bf16x2 __float128 _Float128"
    " complex complex64 complex128 cuComplex cuFloatComplex cuDoubleComplex thrust_complex long_double"
)
_INTEGERS = words(
    "int unsigned char short long bool signed size_t ssize_t ptrdiff_t intptr_t uintptr_t uint ulong ushort uchar"
    " int2 int3 int4 uint2 uint3 uint4 long2 ulonglong2 longlong2 ull ulonglong int8 int16 int32 int64 uint8 uint16"
    " uint32 uint64 qint8 quint8 qint16 quint16 qint32 size_type ordinal_type index_type"
)
_VECTOR = re.compile(r"([diub]?)vec[234]\Z")
"""Vectors as GLSL and what follows it (GLM, tiny-cuda-nn) call them: ``vec3`` holds floats, ``ivec3`` integers."""
_OWN_FLOAT = re.compile(r"\w*(?:bfloat16(?:_t|2)?|(?:[Ff]loat|[Dd]ouble|[Hh]alf)_?[Cc]omplex(?:_t)?|blas_half)\Z")
"""What vendors and libraries call their own: ``__mt_bfloat16``, ``rocsparse_float_complex``, ``hipDoubleComplex``."""
_BY_NAME = re.compile(r"(?:[Rr]eal(?:_t|_type)?|REAL|float[1-4D]?_(?:X|T|[A-Z]{2}|\d+))\Z")
"""What numeric codes call their floats, single or double by a setting."""
_WIDTH = re.compile(r"u?int(?:_fast|_least)?\d+_t\Z")
_QUALIFIERS = re.compile(r"\b(?:const|volatile|typename|struct|class|enum|__restrict__|__restrict|register|static)\b")
_SAME_KIND = re.compile(
    r"\b(?:acc_type(?:_device)?|acc_t|opmath_type|OpMathType|AccumulatorType|AccumulateType|MPTypeTrait|remove_const(?:_t)?"
    r"|remove_(?:cv(?:ref)?|reference|volatile|pointer)(?:_t)?|decay(?:_t)?|type_identity(?:_t)?|atomic_ref|atomic|Atomic"
    r"|iterator_traits|(?:it_|iter_|iterator_)?value_t|invoke_result_binary_op(?:_t)?)\s*<\s*([^,<>]+)"
)
"""Traits whose result is floating point exactly where their argument is
(aten/src/ATen/AccumulateType.h, aten/src/ATen/OpMathType.h), ``cuda::atomic_ref``, and the values of iterators: where a
template is given one, what it points to stands for it."""
_NO_ELEMENT = re.compile(r"(?:\w+::)*(?:[cgx]pu|[CG]PU|\w*Device|k[CG]PU|kDL\w+|\d+\w*)|(?:\w+::)*k\w*(?:Dim|Rank)s?")
"""Template arguments that are no types of elements: devices, dimensions."""
_DIMENSIONS = re.compile(r"\s*\*[*\s]*(?:\[\w*\]\s*)*\Z|\s*(?:\[\w*\]\s*)+\Z")
"""How many there are of a view: ``double*[3]``."""
_INTEGER_TRAITS = re.compile(
    r"\b(?:make_unsigned|make_signed)(?:_t)?\s*<|\biterator_traits\s*<.*>\s*::\s*difference_type\b"
)


@functools.lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """A type name without qualifiers and superfluous blanks; namespaces stay."""
    return re.sub(r"\s+", " ", _QUALIFIERS.sub(" ", name[:200])).strip(" *&")


def short(name: str) -> str:
    """The last part of a qualified name: ``int32`` of ``::tensorflow::int32``."""
    name = plain(name)
    return name if "<" in name else name.rpartition("::")[2]


def underlying(name: str) -> str:
    """The type that a trait is made of (``T`` of ``acc_type<T, true>``); any other name as it is."""
    match = _SAME_KIND.search(name) if not _INTEGER_TRAITS.search(name) else None
    return plain(match[1]) if match else plain(name)


@functools.lru_cache(maxsize=4096)
def kind(name: str) -> str:
    """``float``, ``integer`` or empty: not known (a template parameter, a class).

    >>> kind("const unsigned long long"), kind("Eigen::half"), kind("T")
    ('integer', 'float', '')
    """
    name = plain(name)
    if re.match(r"(?:\w+::)*(?:complex|cuda_complex)\b", name):
        return "float"
    if _INTEGER_TRAITS.search(name):
        return "integer"
    name = underlying(name)
    words = name.rpartition("::")[2].split()
    if not words:
        return ""
    vector = _VECTOR.match(words[-1])
    if vector is not None:
        return "integer" if vector[1] in ("i", "u", "b") else "float"
    if all(word in _FLOATS or _OWN_FLOAT.match(word) for word in words) or words == ["long", "double"]:
        return "float"
    if all(word in _INTEGERS or _WIDTH.match(word) for word in words):
        return "integer"
    return ""


def named_float(name: str) -> bool:
    """Whether a type of which nothing else is known bears the name of floats: ``real``, ``float_X``."""
    return _BY_NAME.match(short(name)) is not None


_INDEX = re.compile(
    r"(?:[Ii]dx|[Ii]ndex)(?:_?[Tt](?:ype)?)?|IDX(?:_?T(?:YPE)?)?|(?:value_)?idx|index_t|IdType|IdxType|IndexType"
    r"|i_t|int_t|[Ii]nteger_t|Int(?:eger)?(?:T|Type)"
)


def named_index(name: str) -> bool:
    """Whether a type of which nothing else is known bears the name of indices or integers: ``IdxT``, ``int_t``."""
    return _INDEX.fullmatch(short(name)) is not None


def element(name: str) -> str:
    """The element type of a container, view or accessor: its first template argument, of the innermost one.

    ``TTypes<T, 4>::ConstTensor``, ``Eigen::TensorMap<Eigen::Tensor<float, 2>>``, ``PackedTensorAccessor64<float, 4>``;
    devices and dimensions are none (``Tensor<gpu, 4, DType>``). Empty for a type without template arguments.
    """
    name = plain(name)
    for _ in range(4):
        start = name.find("<")
        if start < 0:
            return ""
        given = [one for one in arguments(name[start:]) if not _NO_ELEMENT.fullmatch(one)]
        first = given[0] if given else ""
        if "<" not in first or kind(first):
            return plain(_DIMENSIONS.sub("", first))
        name = first
    return ""


def arguments(text: str) -> list[str]:
    """The template arguments of a text that begins with ``<``; empty where it is not closed."""
    depth = 0
    found: list[str] = []
    start = 1
    for at, char in enumerate(text[:2000]):
        if char in "<([{":
            depth += 1
        elif char in ">)]}":
            depth -= 1
            if depth <= 0:
                return [*found, text[start:at].strip()] if char == ">" else []
        elif char == "," and depth == 1:
            found.append(text[start:at].strip())
            start = at + 1
    return []
