"""The files of a checkout: read once, parsed once, bad ones named."""

from __future__ import annotations

import time

import pytest

from d9mlint.kernels.sites.atomics import find
from d9mlint.kernels.source.repository import MAX_BYTES, Repository, includes

GOOD = b"__global__ void k(float* p) { atomicAdd(p, 1.f); }\n"


def repository(**files: bytes) -> Repository:
    named = {name.replace("__", "/").replace("_", "."): data for name, data in files.items()}
    return Repository(named, named.__getitem__)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x7fELF\0\0atomicAdd(p, 1)", "not a text file"),
        (b"int x[] = {" + b"1," * (MAX_BYTES // 2) + b"};\n" + GOOD, "larger than"),
        (b"int x = " + b"(" * 100_000 + b"1" + b")" * 100_000 + b";\n" + GOOD, "nested deeper"),
        (b"int x = " + b"(" * 100_000 + b"\n" + GOOD, "nested deeper"),
    ],
)
def test_files_that_cannot_be_checked_are_named_and_the_rest_is_scanned(data: bytes, reason: str) -> None:
    tree = repository(bad_cu=data, good_cu=GOOD)
    assert [a.location.path for a in find(tree)] == ["good.cu"]
    assert list(tree.unchecked) == ["bad.cu"]
    assert reason in tree.unchecked["bad.cu"]


def test_a_large_file_without_atomics_is_fine() -> None:
    tree = repository(table_cu=b"int x[] = {" + b"1," * (MAX_BYTES // 2) + b"}; // atomicAdd(p, 1)\n")
    assert find(tree) == []
    assert tree.unchecked == {}


@pytest.mark.parametrize(
    "data",
    [
        GOOD[:-12],
        GOOD + b'const char* s = "never closed',
        GOOD + b"/* never closed",
        b"#define X(a \\\n" + GOOD,
        b"\xff\xfe\xe9" + GOOD,
        GOOD.replace(b"\n", b"\r"),
        GOOD + b"}}}}))))",
        b"int a = 1; " * 90_000 + GOOD,
    ],
)
def test_damaged_files_do_not_stop_the_scan(data: bytes) -> None:
    started = time.process_time()
    tree = repository(bad_cu=data, good_cu=GOOD)
    assert "good.cu" in {a.location.path for a in find(tree)}
    assert time.process_time() - started < 10


def test_files_that_cannot_be_read() -> None:
    def read(path: str) -> bytes:
        raise PermissionError(13, "Permission denied")

    tree = Repository(["a.cu"], read)
    assert find(tree) == []
    assert tree.unchecked == {"a.cu": "cannot be read: Permission denied"}


def test_includes_are_found_by_name() -> None:
    tree = repository(
        a__k_cu=b'#include "h.cuh"\n#  include <b/x.h>\n#include "missing.h"\n#include "../b/x.h"\n#include "same.h"\n',
        a__h_cuh=b'#include "k.cu"\n',
        b__x_h=b"",
        c__same_h=b"",
        d__same_h=b"",
    )
    assert includes(tree, "a/k.cu") == ("a/h.cuh", "b/x.h")
    assert tree.reachable("a/k.cu") == {"a/k.cu", "a/h.cuh", "b/x.h"}
    assert tree.users("b/x.h") == {"a/k.cu", "a/h.cuh", "b/x.h"}
    assert tree.source_named("same.h", "d/q.cu") == "d/same.h"


def test_include_loops_end() -> None:
    tree = repository(a_h=b'#include "b.h"\n#include "a.h"\n' + GOOD, b_h=b'#include "a.h"\n')
    assert tree.reachable("a.h") == {"a.h", "b.h"}
    assert len(find(tree)) == 1


def test_derived_values_are_computed_once() -> None:
    calls: list[str] = []

    def compute(tree: Repository, path: str) -> int:
        calls.append(path)
        return len(tree.data(path))

    tree = repository(a_cu=b"12")
    assert [tree.derived(compute, "a.cu"), tree.derived(compute, "a.cu")] == [2, 2]
    assert calls == ["a.cu"]
