"""The releases that d9mlint knows about, and what a TensorFlow release implies for other packages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_TENSORFLOW = """
    0.12.1 1.0.1 1.1.0 1.2.1 1.3.0 1.4.1 1.5.1 1.6.0 1.7.1 1.8.0 1.9.0 1.10.1 1.11.0
    1.12.0 1.12.3 1.13.1 1.13.2 1.14.0 1.15.0 1.15.2 1.15.3 1.15.4 1.15.5
    2.0.0 2.0.4 2.1.0 2.1.4 2.2.0 2.2.3 2.3.0 2.3.1 2.3.4 2.4.0 2.4.1 2.4.4 2.5.0 2.5.3 2.6.0 2.6.2 2.6.5
    2.7.0 2.7.4 2.8.0 2.8.4 2.9.0 2.9.1 2.9.3 2.10.0 2.10.1 2.11.0 2.11.1 2.12.0 2.12.1 2.13.0 2.13.1
    2.14.0 2.14.1 2.15.0 2.15.1 2.16.1 2.16.2 2.17.0 2.17.1 2.18.0 2.18.1 2.19.0 2.19.1 2.20.0 2.21.0
"""
_KERAS = """
    2.0.9 2.1.6 2.2.0 2.2.4 2.2.5 2.3.0 2.3.1 2.4.0 2.4.3 2.6.0 2.7.0 2.8.0 2.9.0 2.10.0 2.11.0 2.12.0 2.13.1
    2.14.0 2.15.0 3.0.0 3.0.5 3.1.1 3.2.1 3.3.3 3.4.1 3.5.0 3.6.0 3.7.0 3.8.0 3.9.2 3.10.0 3.11.3 3.12.4 3.13.2
    3.14.1 3.15.1
"""
_GYM = """
    0.7.4 0.8.2 0.9.7 0.10.11 0.11.0 0.12.6 0.13.1 0.14.0 0.15.7 0.16.0 0.17.3 0.18.3 0.19.0 0.20.0 0.21.0 0.22.0 0.23.1
    0.24.1 0.25.2 0.26.2
"""
_HOROVOD = """
    0.15.2 0.16.4 0.18.0 0.18.2 0.19.0 0.19.5 0.20.0 0.20.3 0.21.0 0.21.3 0.22.0 0.22.1 0.23.0 0.24.0 0.24.3
    0.25.0 0.26.0 0.26.1 0.27.0 0.28.0 0.28.1
"""
_NUMPY = """
    1.13.3 1.14.6 1.15.4 1.16.6 1.17.5 1.18.5 1.19.5 1.20.3 1.21.6 1.22.4 1.23.5 1.24.4 1.25.2 1.26.4
    2.0.2 2.1.3 2.2.6 2.3.5 2.4.6
"""
_ADDONS = """
    0.5.2 0.6.0 0.7.1 0.8.3 0.9.1 0.10.0 0.11.2 0.12.1 0.13.0 0.14.0 0.15.0 0.16.1 0.17.1 0.18.0 0.19.0 0.20.0
    0.21.0 0.22.0 0.23.0
"""
_TORCH = """
    0.4.1 1.0.0 1.0.1 1.1.0 1.2.0 1.3.0 1.3.1 1.4.0 1.5.0 1.5.1 1.6.0 1.7.0 1.7.1 1.8.0 1.8.1 1.8.2 1.9.0 1.9.1
    1.10.0 1.10.1 1.10.2 1.11.0 1.12.0 1.12.1 1.13.0 1.13.1 2.0.0 2.0.1 2.1.0 2.1.1 2.1.2 2.2.0 2.2.1 2.2.2
    2.3.0 2.3.1 2.4.0 2.4.1 2.5.0 2.5.1 2.6.0 2.7.0 2.7.1 2.8.0 2.9.0 2.9.1 2.10.0 2.11.0 2.12.0 2.12.1 2.13.0
    2.14.0 2.14.1 2.15.0
"""
_LIGHTNING = """
    0.7.6 0.8.5 0.9.0 1.0.8 1.1.8 1.2.10 1.3.8 1.4.9 1.5.10 1.6.5 1.7.7 1.8.6 1.9.5 2.0.9 2.1.4 2.2.5 2.3.3 2.4.0
    2.5.6 2.6.6
"""
_TRANSFORMERS = """
    2.0.0 2.1.1 2.2.2 2.3.0 2.4.1 2.5.1 2.6.0 2.7.0 2.8.0 2.9.1 2.10.0 2.11.0 3.0.2 3.1.0 3.2.0 3.3.1 3.4.0 3.5.1
    4.0.1 4.1.1 4.2.2 4.3.3 4.4.2 4.5.1 4.6.1 4.7.0 4.8.2 4.9.2 4.10.3 4.11.3 4.12.5 4.13.0 4.14.1 4.15.0 4.16.2
    4.17.0 4.18.0 4.19.4 4.20.1 4.21.3 4.22.2 4.23.1 4.24.0 4.25.1 4.26.1 4.27.4 4.28.1 4.29.2 4.30.2 4.31.0 4.32.1
    4.33.3 4.34.1 4.35.2 4.36.2 4.37.2 4.38.2 4.39.3 4.40.2 4.41.2 4.42.4 4.43.4 4.44.2 4.45.2 4.46.3 4.47.1 4.48.3
    4.49.0 4.50.3 4.51.3 4.52.4 4.53.3 4.54.1 4.55.4 4.56.2 4.57.6 5.0.0 5.1.0 5.2.0 5.3.0 5.4.0 5.5.4 5.6.2 5.7.0
    5.8.1 5.9.0 5.10.4 5.11.0 5.12.1 5.13.1 5.14.1 5.15.1 5.16.1 5.17.0 5.18.0 5.19.0 5.20.2 5.21.1 5.22.2 5.23.0
"""
_ACCELERATE = """
    0.5.1 0.6.2 0.7.1 0.8.0 0.9.0 0.10.0 0.11.0 0.12.0 0.13.2 0.14.0 0.15.0 0.16.0 0.17.1 0.18.0 0.19.0 0.20.3
    0.21.0 0.22.0 0.23.0 0.24.1 0.25.0 0.26.1 0.27.2 0.28.0 0.29.3 0.30.1 0.31.0 0.32.1 0.33.0 0.34.2 1.0.1 1.1.1
    1.2.1 1.3.0 1.4.0 1.5.2 1.6.0 1.7.0 1.8.1 1.9.0 1.10.1 1.11.0 1.12.0 1.13.0 1.14.0 1.15.0
"""
_ALBUMENTATIONS = """
    0.1.12 0.2.3 0.3.3 0.4.6 0.5.2 1.0.3 1.1.0 1.2.1 1.3.1 1.4.0 1.4.20 1.4.21 1.4.24 2.0.8
"""
_JAX = "0.1.77 0.2.17 0.2.28 0.3.25 0.4.1 0.4.13 0.4.30 0.4.38 0.5.3 0.6.2 0.7.2 0.8.3 0.9.2 0.10.2"
_SB3 = """
    0.6.0 0.7.0 0.8.0 0.9.0 0.10.0 0.11.1 1.0 1.1.0 1.2.0 1.3.0 1.4.0 1.5.0 1.6.2 1.7.0 1.8.0 2.0.0 2.1.0 2.2.1 2.3.2
    2.4.1 2.5.0 2.6.0 2.7.1 2.8.0 2.9.2
"""
_VLLM = """
    0.2.7 0.3.3 0.4.3 0.5.5 0.6.6 0.7.3 0.8.5 0.9.2 0.10.2 0.11.0 0.11.1 0.11.2 0.12.0 0.13.0 0.14.1 0.15.1 0.16.0
    0.17.1 0.18.1 0.19.1 0.20.2 0.21.0 0.22.1 0.23.0 0.24.0 0.25.1 0.26.0 0.27.1 0.28.0 0.29.0 0.30.0 0.31.0 0.32.0
    0.33.0
"""
_GENSIM = """
    0.12.4 0.13.4 1.0.1 2.0.0 2.1.0 2.2.0 2.3.0 3.0.0 3.1.0 3.2.0 3.3.0 3.4.0 3.5.0 3.6.0 3.7.3 3.8.0 3.8.1 3.8.3 4.0.1
    4.1.2 4.2.0 4.3.3 4.4.0
"""
_LIBROSA = "0.4.3 0.5.1 0.6.3 0.7.2 0.8.1 0.9.2 0.10.0 0.10.2 0.11.0"
_SENTENCEPIECE = "0.0.9 0.1.83 0.1.86 0.1.91 0.1.94 0.1.95 0.1.96 0.1.97 0.1.99 0.2.0 0.2.1 0.2.2 0.2.3"
_XGBOOST = """
    0.7.post4 0.71 0.72.1 0.80 0.81 0.82 0.90 1.0.2 1.1.1 1.2.1 1.3.3 1.4.2 1.5.2 1.6.2 1.7.6 2.0.3 2.1.4 3.0.5 3.1.3
    3.2.0
"""
_NGC = """
    18.12 19.03 19.06 19.07 19.10 19.11 20.01 20.02 20.03 20.06 20.08 20.09 20.12 21.02 21.05 21.06 21.08 21.09 21.12
    22.01 22.02 22.03 22.05 22.06 22.09 22.10 22.12 23.01 23.03 23.06 23.10 24.01 24.05 24.12 25.02
"""

# From the package index: every minor release with its last patch, and the patches that projects commonly pin.
KNOWN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "accelerate": tuple(_ACCELERATE.split()),
        "albumentations": tuple(_ALBUMENTATIONS.split()),
        "gensim": tuple(_GENSIM.split()),
        "gym": tuple(_GYM.split()),
        "horovod": tuple(_HOROVOD.split()),
        "jax": tuple(_JAX.split()),
        "keras": tuple(_KERAS.split()),
        "librosa": tuple(_LIBROSA.split()),
        "lightning": tuple(_LIGHTNING.split()),
        "ngc": tuple(_NGC.split()),
        "numpy": tuple(_NUMPY.split()),
        "python": ("2.7", "3.5", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13"),
        "sentencepiece": tuple(_SENTENCEPIECE.split()),
        "stable-baselines3": tuple(_SB3.split()),
        "tensorflow": tuple(_TENSORFLOW.split()),
        "tensorflow-addons": tuple(_ADDONS.split()),
        "tf-keras": ("2.14.1", "2.15.1", "2.16.0", "2.17.0", "2.18.0", "2.19.0", "2.20.1", "2.21.0"),
        "torch": tuple(_TORCH.split()),
        "transformers": tuple(_TRANSFORMERS.split()),
        "vllm": tuple(_VLLM.split()),
        "xgboost": tuple(_XGBOOST.split()),
    }
)
"""Known releases by package, oldest first; the last one is the newest known. ``ngc`` is NVIDIA's image release."""

_ALIASES = {
    "intel-tensorflow": "tensorflow",
    "nvidia-tensorflow": "tensorflow",
    "tensorflow-base": "tensorflow",  # conda splits tensorflow into these
    "tensorflow-cpu": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-intel": "tensorflow",
    "tensorflow-macos": "tensorflow",
    "tensorflow-mkl": "tensorflow",
    "tensorflow-rocm": "tensorflow",
    "tf-nightly": "tensorflow",
    "tf-nightly-cpu": "tensorflow",
    "tf-nightly-gpu": "tensorflow",
    "keras-nightly": "keras",
    "pytorch": "torch",  # conda's names
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "pytorch-lightning": "lightning",
}

# tf.keras.__version__ while Keras was a part of TensorFlow (tensorflow/python/keras/__init__.py of each release
# branch, without its "-tf"); from 2.6 on tf.keras is the keras package of the same minor version.
_TF_KERAS = (((2, 5), "2.5.0"), ((2, 3), "2.4.0"), ((2, 2), "2.3.0"), ((1, 13), "2.2.4"), ((0, 0), "2.1.6"))

# The newest Python that has wheels for a TensorFlow release (tensorflow.org/install/source, tested builds).
_PYTHON = (
    ((2, 20), "3.13"),
    ((2, 16), "3.12"),
    ((2, 12), "3.11"),
    ((2, 8), "3.10"),
    ((2, 5), "3.9"),
    ((2, 2), "3.8"),
    ((1, 13), "3.7"),
    ((0, 0), "3.6"),
)
# The newest Python that has wheels for a release of PyTorch, and of NumPy (the files of each release on
# pypi.org/project/torch and pypi.org/project/numpy).
_PYTHON_OF_TORCH = (
    ((2, 5), "3.13"), ((2, 2), "3.12"), ((2, 0), "3.11"), ((1, 11), "3.10"), ((1, 8), "3.9"), ((1, 4), "3.8"),
    ((0, 4), "3.7"), ((0, 0), "3.6"),
)  # fmt: skip
_PYTHON_OF_NUMPY = (
    ((2, 1), "3.13"), ((1, 26), "3.12"), ((1, 23), "3.11"), ((1, 21), "3.10"), ((1, 19), "3.9"), ((1, 17), "3.8"),
    ((1, 15), "3.7"), ((0, 0), "3.6"),
)  # fmt: skip
# The first release that a Python cannot install, the other way round: (that Python, first release without it; the
# files of each release on the package index, and what they require).
_WITHOUT = {
    "accelerate": (("3.6", "0.10"), ("3.7", "0.21"), ("3.8", "1.1"), ("3.9", "1.11")),
    "albumentations": (("2.7", "0.4.4"), ("3.5", "0.5"), ("3.6", "1.3.1"), ("3.7", "1.4"), ("3.8", "1.4.19")),
    "gensim": (("3.5", "4.0"), ("3.7", "4.3"), ("3.8", "4.4")),
    "gym": (("2.7", "0.17"), ("3.5", "0.18")),
    "lightning": (("3.6", "1.6"), ("3.7", "2.0"), ("3.8", "2.4"), ("3.9", "2.6.1")),
    "stable-baselines3": (("3.5", "1.3"), ("3.6", "1.4"), ("3.7", "2.1"), ("3.8", "2.5"), ("3.9", "2.8")),
    "transformers": (
        ("2.7", "2.4"), ("3.5", "2.6"), ("3.6", "4.19"), ("3.7", "4.31"), ("3.8", "4.47"), ("3.9", "5.0"),
    ),
    "xgboost": (("2.7", "0.90"), ("3.5", "1.2"), ("3.6", "1.6"), ("3.7", "1.7"), ("3.9", "3.0")),
    "tensorflow": (("2.7", "2.2"), ("3.5", "2.4"), ("3.6", "2.7"), ("3.7", "2.12"), ("3.8", "2.14"), ("3.9", "2.21")),
    "torch": (("2.7", "1.5"), ("3.5", "1.6"), ("3.6", "1.11"), ("3.7", "2.0"), ("3.8", "2.5"), ("3.9", "2.9")),
    "jax": (("3.6", "0.2.18"), ("3.7", "0.4.0"), ("3.8", "0.4.14"), ("3.9", "0.4.31"), ("3.10", "0.7")),
    "numpy": (
        ("2.7", "1.17"), ("3.5", "1.19"), ("3.6", "1.20"), ("3.7", "1.22"), ("3.8", "1.25"), ("3.9", "2.1"),
        ("3.10", "2.3"),
    ),
}  # fmt: skip
BOUND_BY_PYTHON = tuple(_WITHOUT)
"""The packages of which it is known which releases a Python can install."""


# torchvision's minor release by that of the torch it is built for (github.com/pytorch/vision, readme, Installation);
# from 0.8 (torch 1.7) on both are counted up together. torchaudio has torch's own number from 2.0 on.
_VISION = {3: "1.1", 5: "1.4", 6: "1.5", 7: "1.6"}
_VISION_TOGETHER, _VISION_FIRST_2 = 8, 15


def torch_for(name: str, version: str) -> str:
    """The minor release of torch that a torchvision or torchaudio is built for; empty where nothing is known."""
    try:
        major, minor, *_ = (*Version(version).release, 0)
    except InvalidVersion:
        return ""
    if name == "torchaudio":
        return f"{major}.{minor}" if major >= 2 else ""
    if name != "torchvision" or major != 0:
        return ""
    if minor >= _VISION_FIRST_2:
        return f"2.{minor - _VISION_FIRST_2}"
    return f"1.{minor - 1}" if minor >= _VISION_TOGETHER else _VISION.get(minor, "")


COMPANIONS = frozenset({"torchaudio", "torchvision"})
"""Packages whose release tells that of torch."""


def package_name(name: str) -> str:
    """The name under which d9mlint keeps a distribution: PEP 503, builds of a framework folded into one name."""
    canonical = canonicalize_name(name)
    return _ALIASES.get(canonical, canonical)


def used(imports: Iterable[str]) -> tuple[str, ...]:
    """The known packages among the modules that a program imports, sorted."""
    return tuple(sorted({package_name(name) for name in imports} & KNOWN.keys()))


def satisfies(name: str, version: str, specifier: SpecifierSet) -> bool:
    """Whether ``version`` lies within ``specifier``; a Python minor does when any patch of it may."""
    # "python >=3.7.1,<3.8" allows 3.7, though 3.7 itself (that is 3.7.0) is below it.
    attempts = (version, f"{version}.99") if name == "python" and version.count(".") == 1 else (version,)
    return any(specifier.contains(Version(attempt), prereleases=True) for attempt in attempts)


@cache
def newest(name: str, specifier: SpecifierSet) -> str | None:
    """The newest known release of ``name`` within ``specifier``; None where there is none."""
    return next((v for v in reversed(KNOWN.get(name, ())) if satisfies(name, v, specifier)), None)


@cache
def newest_python(name: str, version: str) -> str | None:
    """The newest Python that has wheels for a release; None where nothing is known of the package."""
    table = {"tensorflow": _PYTHON, "torch": _PYTHON_OF_TORCH, "numpy": _PYTHON_OF_NUMPY}.get(name)
    major, minor, *_ = (*Version(version).release, 0)
    return next(python for since, python in table if (major, minor) >= since) if table else None


@cache
def without_python(name: str, python: str) -> str | None:
    """The first release of a package that a Python cannot install; None where it can install the newest ones."""
    minor = Version(python).release[:2]
    return next((release for gone, release in _WITHOUT.get(name, ()) if Version(gone).release >= minor), None)


@cache
def tensorflow_of_keras(keras: str) -> str:
    """The releases of TensorFlow that a package ``keras`` runs on; empty where nothing is known.

    The one with several backends calls TensorFlow 1 (``tf.get_default_graph``) up to 2.2.5; 2.3 is "the first release
    of multi-backend Keras that supports TensorFlow 2.0" and takes names out of it that left with 2.3
    (``_TensorLike``). From 2.6 on each belongs to the TensorFlow of its own number.
    """
    release = Version(keras).release[:2]
    if release < (2, 3):
        return "<2.0"
    if release < (2, 6):
        return "<2.3" if release == (2, 3) else ">=2.2,<2.6"
    return f"=={release[0]}.{release[1]}.*" if release < (2, 16) else ""


@cache
def implied(name: str, tensorflow: str) -> tuple[str, str] | None:
    """Version of ``name`` that comes with this TensorFlow, and the reason; None where nothing follows."""
    release = Version(tensorflow).release
    minor = (release[0], release[1] if len(release) > 1 else 0)
    dotted = f"{minor[0]}.{minor[1]}"
    if name == "python":
        return next(v for since, v in _PYTHON if minor >= since), f"newest Python for tensorflow {dotted}"
    if name == "tf-keras" and minor >= (2, 14):
        legacy = newest(name, SpecifierSet(f"=={dotted}.*"))
        return (legacy, f"tensorflow {tensorflow}") if legacy else None
    if name != "keras":
        return None
    if minor >= (2, 16):
        return KNOWN["keras"][-1], f"tensorflow {dotted} ships Keras 3"
    if minor >= (2, 6):
        return newest("keras", SpecifierSet(f"=={dotted}.*")) or f"{dotted}.0", f"tensorflow {tensorflow}"
    return next(v for since, v in _TF_KERAS if minor >= since), f"tensorflow {tensorflow}"
