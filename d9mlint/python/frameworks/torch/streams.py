"""CUDA streams: bodies of ``with`` whose work is queued on a stream of the program's own."""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.interpreter.provenance import made_by

SIDE_STREAM = "cuda-stream"
"""The context of such a body."""
OPENS = ("torch.cuda.stream", "torch.cuda.StreamContext")
_STREAMS = ("torch.cuda.Stream", "torch.cuda.streams.Stream")
_STREAM = Argument(0, "stream")


def opens(event: Event) -> str | None:
    """The context that a manager made by this call opens, where its stream is one that the program makes.

    A stream is a manager, too (``torch/_C/__init__.pyi`` of 2.13, ``Stream.__enter__``).
    """
    if event.name in _STREAMS:
        return SIDE_STREAM
    own = event.name in OPENS and any(made.name in _STREAMS for made in made_by(event.argument(_STREAM)))
    return SIDE_STREAM if own else None
