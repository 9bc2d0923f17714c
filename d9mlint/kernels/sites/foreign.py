"""Sources of kernels in languages that are not looked at, named so that nobody takes them for clean."""

from __future__ import annotations

import re

from d9mlint.kernels.sites.presence import is_module
from d9mlint.kernels.source.looks import Look
from d9mlint.kernels.source.repository import SUFFIXES

_TOP = 4000
"""Bytes of a source in which its first ``#include`` lines stand."""
_WRITTEN = re.compile(rb'"[^"\n]*\b(?:red|atom)\.global\.')
"""An instruction in a string of a program that puts PTX together."""


def _language(path: str, data: bytes) -> str:
    if path.endswith((".metal", ".cl")):
        return ("Metal" if path.endswith(".metal") else "OpenCL") if b"atom" in data else ""
    if b"Kokkos::atomic_" in data:
        return "Kokkos"
    if b".global." in data and b"asm" not in data and _WRITTEN.search(data) is not None and not is_module(data):
        return "PTX that the program puts together"
    if data.find(b"/sycl.hpp", 0, _TOP) < 0 and data.find(b"sycl::", 0, _TOP) < 0:
        return ""
    return "SYCL" if b"atomic" in data else ""


FOREIGN = Look((*SUFFIXES, ".metal", ".cl"), _language)
"""The language of sources with atomics in Metal, OpenCL, SYCL or Kokkos, or in PTX that a program writes."""
