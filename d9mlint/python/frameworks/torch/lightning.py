"""The flags that a trainer of PyTorch Lightning adds to a program's command line (until 2.0)."""

from __future__ import annotations

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Const, FlagValue, Phi, Ref, Value
from d9mlint.python.interpreter import attributes, calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library import environment

TRAINER = "lightning.pytorch.Trainer"
_DETERMINISTIC, RESUMED = "deterministic", "resume_from_checkpoint"
_OTHERS = (
    "logger", "enable_checkpointing", "default_root_dir", "gradient_clip_val", "gradient_clip_algorithm", "num_nodes",
    "num_processes", "devices", "gpus", "auto_select_gpus", "tpu_cores", "ipus", "enable_progress_bar",
    "overfit_batches", "track_grad_norm", "check_val_every_n_epoch", "fast_dev_run", "accumulate_grad_batches",
    "max_epochs", "min_epochs", "max_steps", "min_steps", "max_time", "limit_train_batches", "limit_val_batches",
    "limit_test_batches", "limit_predict_batches", "val_check_interval", "log_every_n_steps", "accelerator",
    "strategy", "sync_batchnorm", "precision", "enable_model_summary", "weights_save_path", "num_sanity_val_steps",
    "resume_from_checkpoint", "profiler", "benchmark", "reload_dataloaders_every_n_epochs", "auto_lr_find",
    "replace_sampler_ddp", "detect_anomaly", "auto_scale_batch_size", "plugins", "amp_backend", "amp_level",
    "move_metrics_to_cpu", "multiple_trainloader_mode", "inference_mode",
)  # fmt: skip
"""The arguments of the trainer that are flags (pytorch_lightning/trainer/trainer.py of 1.9) and decide nothing here."""


def _add_arguments(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``Trainer.add_argparse_args(parser)``: flags on the parser, which is handed back."""
    parser, place = environment.first(event), environment.place_of(event)
    add = attributes.attribute(interp, parser, "add_argument", frame, place)
    calls.call(interp, add, [Const(f"--{_DETERMINISTIC}")], {"action": Const("store_true")}, frame, place)
    for name in _OTHERS:
        calls.call(interp, add, [Const(f"--{name}")], {"default": Const(None)}, frame, place)
    return parser


def _from_arguments(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``Trainer.from_argparse_args(args, **more)``: a trainer made with the flags that are not given besides."""
    parsed, place = environment.first(event), environment.place_of(event)
    flag = attributes.attribute(interp, parsed, _DETERMINISTIC, frame, place)
    given = {_DETERMINISTIC: flag}
    resumed = attributes.attribute(interp, parsed, RESUMED, frame, place)
    if isinstance(resumed, (FlagValue, Phi)):
        given[RESUMED] = resumed
    return calls.call(interp, Ref(TRAINER), [], {**given, **event.kwargs}, frame, place)


TRANSFER: dict[str, Transfer] = {
    f"{TRAINER}.add_argparse_args": _add_arguments,
    f"{TRAINER}.from_argparse_args": _from_arguments,
}
