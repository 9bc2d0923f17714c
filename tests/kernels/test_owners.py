"""What stands around a place of a source."""

from __future__ import annotations

import pytest

from d9mlint.kernels.source.owners import only_declared


def test_a_word_that_only_begins_classes() -> None:
    assert only_declared(b"struct Blur {\n};\ntemplate <>\nclass Blur<GPU> : public Base {\n};\n", b"Blur")
    assert only_declared(b"struct BlurGrad : Blurred {\n};\n", b"Blur")


@pytest.mark.parametrize(
    "use",
    [
        b"Blur blur;\n",
        b"struct Sharpen : Blur {\n};\n",
        b"struct Sharpen {\n  struct Blur {};\n};\n",
        b"struct Blur;\n",
        b"template struct Blur<float>;\n",
        b"#define DECLARE(T) \\\nstruct Blur {}; \\\ntemplate <> struct Sharpen<T> {}\n",
        b"#define DECLARE(T) \\\r\nstruct Blur {}; \\\r\ntemplate <> struct Sharpen<T> {}\r\n",
    ],
)
def test_a_word_that_does_more(use: bytes) -> None:
    assert not only_declared(b"struct Blur {\n};\n" + use, b"Blur")
