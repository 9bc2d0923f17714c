"""Functions of PyTorch that take another way while a mode of the dispatcher is on: here they take their usual one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..wrapping import Wrapping


def install(torch: Any, wrapping: Wrapping) -> None:
    """Before the program calls them."""
    wrapping.replace(torch, "ctc_loss", partial(_with_numbers, torch))


def _with_numbers(torch: Any, real: Callable[..., Any]) -> Callable[..., Any]:
    """Lengths in the CPU's memory become numbers, as they do without a mode.

    With one they stay tensors, which on a GPU is refused ("expected all tensors to be on the same device"): `ctc_loss`
    asks `areAnyTensorSubclassLike` (pytorch/pytorch: aten/src/ATen/native/LossCTC.cpp).
    """

    def plain(value: Any) -> Any:
        return value.tolist() if isinstance(value, torch.Tensor) and value.is_cpu and value.dim() == 1 else value

    def ctc_loss(
        log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *args: Any, **kwargs: Any
    ) -> Any:
        return real(log_probs, targets, plain(input_lengths), plain(target_lengths), *args, **kwargs)

    return ctc_loss
