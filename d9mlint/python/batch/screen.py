"""Which entries can reach anything that a rule is about: a look at words, before anything is interpreted."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from d9mlint.model import Effect, Op, Rule
from d9mlint.python.source.reading import CannotRead, Reader

_WORDS = (
    rb"\brandom", rb"\bhash\(", rb"(?i:seed)", rb"(?i:determinis)", rb"HASH", rb"\bTF_", rb"XLA", rb"CU(?:DA|BLAS|DNN)",
    rb"NCCL",
)  # fmt: skip
"""Python's own generator, seeds, and the variables of the environment that settings are made with."""
_ORDERS = re.compile(
    rb"\b(?:listdir|scandir|iterdir|r?glob|os\.walk|imap_unordered|as_completed|add_done_callback|hash)\b|\bcallback="
    rb"|\b(?:Simple|Joinable)?Queue\(|\bThread(?:Pool\w*)?\(|\bgather\(|\bcreate_task\(|\bensure_future\(|\$sample"
    rb"|(?i:\border\s+by\s+(?:rand|newid)|\btablesample\b)"
    rb"|(?<![\w.])(?:frozen)?set\([^)\s]"
    rb"|\btimeout=|\bsignal\.(?:alarm|setitimer)\("
    rb"|(?<![\w.])set\(\)(?=[\s\S]*\.update\()|\{[^{}:\n]+\bfor\b[^{}:\n]+\bin\b|\bin \{[\"']"
)
"""Where an order comes from that nothing promises, a number that differs in each process, or an end by the clock."""
_WRITES = re.compile(
    rb"\b(?:json|pickle|dill|marshal|yaml|joblib)\.(?:safe_)?dump\(|\bcsv\.(?:Dict)?[wW]riter|\.write_(?:text|bytes)\("
    rb"|\bZipFile\(|\btarfile\.|open\([^\n]*[\"'][wax]b?\+?[\"']|\bprint\([^\n]*file=(?!sys\b)"
)
"""Files that a program writes."""
_IN_CODE = ("cupy", "numba", "onnxruntime", "sglang", "tensorrt", "triton", "vllm")
"""Packages that rules know without an effect in the catalogue."""
_HIDES = re.compile(
    rb"__import__|import_module|spec_from_file|exec_module|load_source|walk_packages|entry_points|runpy|\bexec\(|\beval\("
    rb"|sys\.path|\blazy_loader\b|\bhydra|\bgin\b|subprocess|os\.system"
)
"""Words behind which a program may reach files that its import lines do not name."""


class Screen:
    """The packages that the catalogue knows of, and what rules ask for by name; each file is looked at once."""

    def __init__(
        self, effects: Iterable[Effect], ops: Iterable[Op], aliases: Mapping[str, str], rules: Iterable[Rule],
        read: Reader,
    ) -> None:  # fmt: skip
        names = [name for effect in effects for name in effect.calls] + [name for op in ops for name in op.calls]
        packages = {name.partition(".")[0] for name in (*names, *aliases, *aliases.values())} - sys.stdlib_module_names
        words = {*packages, *_IN_CODE, *(word for rule in rules for word in _asked_for(rule))}
        known = "|".join(sorted(word for word in words if word.isidentifier()))
        self._pattern = re.compile(rb"|".join([rb"\b(?:%s)" % known.encode(), *_WORDS]))
        self._read = read
        self._known: dict[str, bool] = {}

    def matters(self, path: str) -> bool:
        """Whether a rule could report anything in the file (or it cannot be read, which is to be told)."""
        if path not in self._known:
            try:
                data = self._read(path)
                self._known[path] = data is not None and self._speaks(data)
            except CannotRead:
                self._known[path] = True
        return self._known[path]

    def _speaks(self, data: bytes) -> bool:
        if self._pattern.search(data) is not None:
            return True
        return _WRITES.search(data) is not None and _ORDERS.search(data) is not None

    def idle(
        self, reached: Mapping[str, Sequence[str]], files: Sequence[str], *, named: bool = False
    ) -> dict[str, tuple[str, ...]]:
        """The entries that reach nothing which matters, with what they reach; ``files`` are all others of the run.

        ``named`` says that config files name classes, which may stand in any file.
        """
        found = {entry: tuple(paths) for entry, paths in reached.items() if not any(map(self.matters, paths))}
        hiding = {entry for entry, paths in found.items() if any(map(self._hides, paths))}
        if hiding and (named or any(self.matters(path) for path in (*reached, *files))):
            return {entry: paths for entry, paths in found.items() if entry not in hiding}
        return found

    def quiet(self, closures: Mapping[str, Callable[[], Iterable[str]]]) -> frozenset[str]:
        """The files in which, and in all that they import, nothing matters; what each reaches is asked for last."""
        loud = (self.matters, self._hides)
        return frozenset(
            path for path, closure in closures.items()
            if not self.matters(path) and not any(is_so(one) for one in closure() for is_so in loud)
        )  # fmt: skip

    def _hides(self, path: str) -> bool:
        return _HIDES.search(self._read(path) or b"") is not None


def _asked_for(rule: Rule) -> Iterator[str]:
    """Names without which a rule's ``match`` finds nothing in a program."""
    for names in (rule.match or {}).values():
        for name in [names] if isinstance(names, str) else names if isinstance(names, list) else ():
            package, _, rest = str(name).partition(".")
            yield rest.rpartition(".")[2] if package in sys.stdlib_module_names and rest else package
