"""Calls of frameworks that find the newest checkpoint of a folder, and where the folder is given."""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.frameworks.tensorflow import sessions

FINDERS = {
    **sessions.NEWEST,
    "flax.training.checkpoints.latest_checkpoint": Argument(0, "ckpt_dir"),
    "transformers.get_last_checkpoint": Argument(0, "folder"),
    "paddlenlp.trainer.get_last_checkpoint": Argument(0, "folder"),
}
