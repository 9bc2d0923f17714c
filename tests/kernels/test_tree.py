"""The files of a folder: which are listed, how they are read, when a listing changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from d9mlint.kernels import tree
from d9mlint.kernels.listing import listing, stamp
from d9mlint.kernels.sites.atomics import find

GOOD = b"__global__ void k(float* x) { atomicAdd(x, 1.f); }\n"


def test_a_folder_on_disk(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.cu").write_bytes(GOOD)
    (tmp_path / "src" / "folder.cc").mkdir(parents=True)
    (tmp_path / "src" / "folder.cc" / "k.cu").write_bytes(GOOD)
    (tmp_path / "src" / "notes.txt").write_text("atomicAdd")
    (tmp_path / "src" / "k.o").write_bytes(GOOD)
    (tmp_path / "src" / "link.cu").symlink_to(tmp_path / "src" / "folder.cc" / "k.cu")
    files = listing(tmp_path)
    assert files.paths == ("src/folder.cc/k.cu", "src/notes.txt")
    assert files.sources
    found = tree.repository(files)
    assert found.sources == ("src/folder.cc/k.cu",)
    assert [one.location.path for one in find(found)] == ["src/folder.cc/k.cu"]


@pytest.mark.parametrize("size", [0, 1, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20])
def test_files_of_any_size_are_read_whole(tmp_path: Path, size: int) -> None:
    data = bytes(i % 251 for i in range(1000)) * (size // 1000 + 1)
    (tmp_path / "k.cu").write_bytes(data[:size])
    assert tree.repository(listing(tmp_path)).data("k.cu") == data[:size]


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_bytes(GOOD)
    found = tree.repository(listing(tmp_path))
    (tmp_path / "k.cu").unlink()
    assert find(found) == []
    assert found.unchecked == {"k.cu": "cannot be read: No such file or directory"}


def test_a_listing_changes_with_names_sizes_and_times(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_bytes(GOOD)
    os.utime(file, ns=(10**18, 10**18))
    seen = [stamp(listing(tmp_path))[0]]
    assert stamp(listing(tmp_path))[0] == seen[0]
    os.utime(file, ns=(10**18, 10**18 + 1))
    seen.append(stamp(listing(tmp_path))[0])
    file.write_bytes(GOOD * 2)
    os.utime(file, ns=(10**18, 10**18 + 1))
    seen.append(stamp(listing(tmp_path))[0])
    file.rename(tmp_path / "l.cu")
    seen.append(stamp(listing(tmp_path))[0])
    assert len(set(seen)) == 4


def test_files_of_unusual_names_are_sources_by_what_they_hold(tmp_path: Path) -> None:
    header = b"#pragma once\ntemplate <class T> __device__ void put(T* x, float v) { atomicAdd(x, v); }\n"
    (tmp_path / "a.cu").write_bytes(
        b'#include "put.kernel"\n__global__ void k(float* x) { put(x, .1f * threadIdx.x); }\n'
    )
    (tmp_path / "put.kernel").write_bytes(header)
    (tmp_path / "more.tcu").write_bytes(GOOD)
    (tmp_path / "notes.md").write_bytes(GOOD)
    (tmp_path / "slang.shade").write_text("void f() { atomicAdd(n, 1); }")
    (tmp_path / "blob.weights").write_bytes(b"\0__global__")
    for number in range(40):
        (tmp_path / f"{number:02}.cell").write_text("points 1 2 3")
    (tmp_path / "zz.cell").write_bytes(GOOD)  # behind so many others it is not looked at
    files = listing(tmp_path)
    assert files.unusual == ("more.tcu", "put.kernel")
    found = tree.scan(files, cache=False, jobs=1)
    assert [(one.location.path, one.verdict) for one in found.sites] == [
        ("a.cu", "yes"),
        ("more.tcu", "no"),
        ("put.kernel", "yes"),
    ]
    assert [one.path for one in found.skipped] == ["slang.shade"]


def test_a_template_for_kernels_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_bytes(GOOD)
    (tmp_path / "macros.jinja").write_text(
        "{%- macro store(out, shared) %}\n  ROWS(32, atomicAdd({{ out }} + i, {{ shared }}[i]);)\n{%- endmacro %}\n"
    )
    (tmp_path / "page.j2").write_text("<b>{{ title }}</b>")
    found = tree.scan(listing(tmp_path), cache=False, jobs=1)
    assert [(one.location.path, one.location.line, one.verdict) for one in found.sites] == [
        ("k.cu", 1, "no"), ("macros.jinja", 2, "conditional"),
    ]  # fmt: skip
    assert found.skipped == ()
