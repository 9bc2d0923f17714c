"""Losses of classes and of images: which of PyTorch's kernels a negative log-likelihood takes, by what it is given."""

from __future__ import annotations

import re

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Value
from d9mlint.python.interpreter.provenance import Makers, calls_of, made_of

LOSS = "torch.nn.functional.nll_loss of images"
_PLAIN = "torch.nn.NLLLoss2d"
_PER_IMAGE = re.compile(r"torch\.nn\.(Conv2d|ConvTranspose2d|BatchNorm2d|Upsample|UpsamplingBilinear2d|PixelShuffle)$")
"""Layers that make images of images."""
_OF_IMAGES = re.compile(
    r"torch\.nn\.functional\.(conv2d|conv_transpose2d|(max|avg)_pool2d|pixel_shuffle|upsample_bilinear)$"
)
"""Functions that take and give images alone."""
_RESIZES = re.compile(r"torch\.nn\.functional\.(interpolate|upsample)$")
_OF_TWO_AXES = ("bilinear", "bicubic")
"""Modes of these that ask for images."""
_SAME_SHAPE = re.compile(
    r"torch\.nn\.(\w*ReLU\w*|GELU|SiLU|Dropout2?d?|LogSoftmax|Softmax|Identity|Sigmoid)(\(\)\.__call__)?$|"
    r"torch\.nn\.functional\.(relu|gelu|leaky_relu|dropout2?d?|log_softmax|softmax|interpolate)$|"
    r"torch\.(Tensor\.(float|contiguous|to|cuda|log_softmax|softmax|relu)|relu|log_softmax|softmax|sigmoid)$"
)
_LAYER = re.compile(r"torch\.nn\.[A-Z]\w*$")
_KEEPS_IMAGES = re.compile(
    r"torch\.nn\.(Max|Avg)Pool2d$|torch\.nn\.(Sequential|ModuleList|ModuleDict|Parameter|\w*Loss\w*)$|"
    r"torch\.nn\.(Group|Instance|Sync|Local)\w*Norm\w*$"
)
_ENLARGES = re.compile(r"torch\.nn\.(ConvTranspose2d|Upsample|UpsamplingBilinear2d|PixelShuffle)$")
_FLATTENS = ("view", "reshape", "flatten", "squeeze", "mean")
_CALL = "().__call__"
_DEPTH = 8


def sums_pixels(event: Event, makers: Makers) -> bool:
    """Whether a loss surely adds up what the pixels of images lose: it is given what a layer for images made."""
    if event.name == _PLAIN:
        return True
    reduction = event.kwargs.get("reduction")
    if isinstance(reduction, Const) and reduction.value == "none":
        return False
    calls = [event] if event.name.startswith("torch.nn.functional.") else list(calls_of(event, makers))
    given = [call.argument(Argument(0, "input")) for call in calls]
    if any(_is_image(value, makers, _DEPTH) for value in given):
        return True
    unknown = any(value is not None and not any(made_of(value, makers)) for value in given)
    return unknown and _only_images(makers)


def _only_images(makers: Makers) -> bool:
    """Whether all layers of the program make images of images, some of them larger ones, and nothing flattens them.

    So what comes out of a network that cannot be followed layer by layer is a batch of images, too.
    """
    made = [e for e in makers.values() if e.kind == "call" and not e.detached]
    layers = [e.name for e in made if _LAYER.match(e.name)]
    if not any(map(_ENLARGES.match, layers)) or any(e.name.rpartition(".")[2] in _FLATTENS for e in made):
        return False
    return all(_PER_IMAGE.match(name) or _SAME_SHAPE.match(name) or _KEEPS_IMAGES.match(name) for name in layers)


def _is_image(value: Value | None, makers: Makers, depth: int) -> bool:
    """Whether whatever a value may be is a batch of images."""
    made = list(made_of(value, makers))
    return bool(made) and depth > 0 and all(_makes_images(one, makers, depth - 1) for one in made)


def _makes_images(made: Event, makers: Makers, depth: int) -> bool:
    layer = made.name.removesuffix(_CALL)
    if layer == "torch.nn.Sequential":
        last = next(made_of(made.receiver, makers), None)
        return last is not None and _ends_in_images(last, makers)
    if _PER_IMAGE.match(layer):
        return made.name.endswith(_CALL)
    mode = made.argument(Argument(3, "mode")) if _RESIZES.match(made.name) else None
    if _OF_IMAGES.match(made.name) or (isinstance(mode, Const) and mode.value in _OF_TWO_AXES):
        return True
    if not _SAME_SHAPE.match(made.name):
        return False
    given = made.receiver if made.name.startswith("torch.Tensor.") else made.argument(Argument(0, "input"))
    return _is_image(given, makers, depth)


def _ends_in_images(sequential: Event, makers: Makers) -> bool:
    """Whether the last layer of a ``Sequential`` that changes the shape makes images."""
    for part in reversed(sequential.args):
        layer = next(made_of(part, makers), None)
        if layer is None or not _SAME_SHAPE.match(layer.name):
            return layer is not None and bool(_PER_IMAGE.match(layer.name))
    return False
