"""Which files hold a word, for hundreds of words: each file is split into its words once."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from d9mlint.kernels.source.lexical import word_places

_WORD = re.compile(rb"\w+")
_APART = bytes(b if _WORD.match(bytes((b,))) else ord(" ") for b in range(256))
_FEW = 16
"""So many words are looked for one by one in less time than all files are split in."""


class Vocabulary:
    """The words of files, by ``paths`` and what reads them."""

    def __init__(self, paths: Sequence[str], data: Callable[[str], bytes]) -> None:
        self._paths = paths
        self._data = data
        self._asked = 0
        self._files: dict[bytes, list[int]] = {}

    def holding(self, word: bytes) -> list[str]:
        """The files in which a word stands as a whole, in order; of what is no word (``~Box``): all that hold it."""
        if _WORD.fullmatch(word) is None:
            return [p for p in self._paths if word in self._data(p)]
        self._asked += 1
        if self._asked <= _FEW:
            return [p for p in self._paths if next(word_places(self._data(p), word), None) is not None]
        if not self._files:
            self._split()
        return [self._paths[at] for at in self._files.get(word, ())]

    def _split(self) -> None:
        for at, path in enumerate(self._paths):
            for word in set(self._data(path).translate(_APART).split()):
                self._files.setdefault(word, []).append(at)
