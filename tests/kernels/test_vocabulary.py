"""Which files hold a word: the same answers before and after all files are split."""

from __future__ import annotations

import pytest

from d9mlint.kernels.source.vocabulary import Vocabulary

FILES = {
    "a.cu": b"void scatter(int x) { scatter_add(x); }",
    "b.cu": b"a->~Box(); scatter\xc3\xa9(1); // my_scatter",
    "c.cu": b"#define MAKE(f) f##_kernel\nMAKE(scatter)",
    "empty.cu": b"",
}


@pytest.mark.parametrize("asked_before", [0, 1000])
@pytest.mark.parametrize(
    ("word", "holding"),
    [
        (b"scatter", ["a.cu", "b.cu", "c.cu"]),
        (b"scatter_add", ["a.cu"]),
        (b"add", []),
        (b"my_scatter", ["b.cu"]),
        (b"f", ["c.cu"]),
        (b"_kernel", ["c.cu"]),
        (b"~Box", ["b.cu"]),
        (b"Box", ["b.cu"]),
        (b"nowhere", []),
    ],
)
def test_files_hold_whole_words(asked_before: int, word: bytes, holding: list[str]) -> None:
    vocabulary = Vocabulary(list(FILES), FILES.__getitem__)
    for _ in range(asked_before):
        vocabulary.holding(b"x")
    assert vocabulary.holding(word) == holding


def test_files_are_read_a_fixed_number_of_times_however_many_words_are_asked_for() -> None:
    read: list[str] = []

    def data(path: str) -> bytes:
        read.append(path)
        return FILES[path]

    vocabulary = Vocabulary(list(FILES), data)
    for number in range(100):
        vocabulary.holding(b"word%d" % number)
    after = len(read)
    for number in range(1000):
        vocabulary.holding(b"other%d" % number)
    assert len(read) == after
