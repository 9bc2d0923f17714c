"""Which config files are known for what they are: by their shape, not by their names alone.

A file is of a kind only when it is surely so. Sources: docs.nvidia.com/clara (Clara Train 3.1, 4.1: training configs);
docs.monai.io bundle specification; lightning 2.6.6 pytorch/cli.py; tensorflow/models core/config_definitions.py
(DataConfig, RuntimeConfig); transformers 5.23.0 training_args.py; accelerate 1.15.0 commands/config/config_args.py;
hydra.cc docs; detectron2 0.6 config/defaults.py; DeepSpeed 0.19.6 docs/_pages/config-json.md, runtime/config.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from d9mlint.configs.documents import Node

CLARA, MONAI, LIGHTNING, GARDEN = "NVIDIA Clara", "MONAI bundle", "Lightning CLI", "TF Model Garden"
TRAINING_ARGUMENTS, ACCELERATE, HYDRA = "Transformers", "Accelerate", "Hydra"
LIGHTNING_TRAINER, DETECTRON, DEEPSPEED = "Lightning trainer section", "Detectron2", "DeepSpeed"
LIGHTNING_SECTION = "Lightning section"
READ_BY_PROGRAMS = {LIGHTNING_TRAINER: ("trainer",), LIGHTNING_SECTION: ("lightning", "trainer")}
"""Kinds that no tool reads, but the program whose they are: with the keys that lead to what they are known by."""
MAX_BYTES = 500_000
"""Longer ones are data."""
SCREEN = re.compile(
    rb"pre_transforms|set_determinism|seed_everything|train_data|per_device_train_batch_size|num_train_epochs"
    rb"|compute_environment|_target_|\bhydra\b|\btrainer['\"]?\s*:|\bSOLVER['\"]?\s*:"
    rb"|zero_optimization|train_(micro_)?batch_size"
)
"""One of these words is in every file of these kinds."""
_TRAINER = frozenset(
    {"max_epochs", "max_steps", "accelerator", "devices", "precision", "strategy", "callbacks", "logger", "num_nodes"}
    | {
        "accumulate_grad_batches",
        "gradient_clip_val",
        "benchmark",
        "deterministic",
        "check_val_every_n_epoch",
        "fast_dev_run",
    }
)
_TRAINER_ONLY = _TRAINER | {"log_every_n_steps", "num_sanity_val_steps", "val_check_interval", "limit_train_batches"}
"""Arguments of Lightning's Trainer by which a section of settings is known for what it is handed to."""
_TRAINING_ARGUMENTS = frozenset(
    {
        "output_dir",
        "per_device_train_batch_size",
        "num_train_epochs",
        "gradient_accumulation_steps",
        "lr_scheduler_type",
    }
    | {"warmup_ratio", "warmup_steps", "logging_steps", "save_strategy", "eval_strategy", "evaluation_strategy"}
    | {"per_device_eval_batch_size", "learning_rate", "max_steps", "bf16", "fp16", "save_steps", "report_to"}
)
_DEEPSPEED = frozenset(
    {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "gradient_clipping", "bf16"}
    | {"optimizer", "scheduler", "communication_data_type", "seq_parallel_communication_data_type", "fp16", "bfloat16"}
    | {"prescale_gradients", "gradient_predivide_factor", "gradient_allreduce_op", "sparse_gradients", "amp", "aio"}
    | {"torch_autocast", "zero_optimization", "zero_allow_untested_optimizer", "zero_force_ds_cpu_optimizer"}
    | {"steps_per_print", "wall_clock_breakdown", "memory_breakdown", "dump_state", "disable_allgather", "elasticity"}
    | {"autotuning", "flops_profiler", "activation_checkpointing", "sparse_attention", "data_efficiency", "wandb"}
    | {"curriculum_learning", "tensorboard", "csv_monitor", "comet", "monitor_config", "comms_logger", "checkpoint"}
    | {"compression_training", "data_types", "dataloader_drop_last", "pipeline", "eigenvalue", "hybrid_engine"}
    | {"progressive_layer_drop", "tensor_parallel", "expert_parallel", "compile", "timers", "graph_harvesting"}
    | {"nebula"}
)
"""Keys at the top of a DeepSpeed config; it reads no others there."""
_DEEPSPEED_ONLY = frozenset(
    {"zero_optimization", "train_micro_batch_size_per_gpu", "steps_per_print", "prescale_gradients"}
)
"""Those of them that no others use."""
_OF_DETECTRON = frozenset({"MODEL", "_BASE_", "INPUT", "DATALOADER"})
SEEDS = frozenset({"seed", "random_seed"})
BENCHMARK = "CUDNN_BENCHMARK"
"""The setting of Detectron2 that becomes ``torch.backends.cudnn.benchmark``."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A config file of a known kind."""

    path: str
    kind: str
    root: Node
    primary: bool = False
    """A program is started with it unless it is told otherwise."""


def kind(root: Node) -> str:
    """The kind of a document; empty where it is none that is known."""
    if root.kind != "map":
        return ""
    keys = root.entries.keys()
    train = root.get("train")
    if train is not None and {"model", "pre_transforms"} <= train.entries.keys() and "epochs" in keys:
        return CLARA
    if "compute_environment" in keys and "distributed_type" in keys:
        return ACCELERATE
    if root.get("task", "train_data") is not None and keys & {"trainer", "runtime"}:
        return GARDEN
    trainer = root.get("trainer")
    if trainer is not None and trainer.entries.keys() & _TRAINER and "_target_" not in trainer.entries:
        lightning = "seed_everything" in keys or any(root.get(one, "class_path") for one in ("model", "data"))
        if lightning and not keys & {"hydra", "defaults"}:
            return LIGHTNING
        if not lightning and "seed" in keys and len(trainer.entries.keys() & _TRAINER_ONLY) >= 2:
            return LIGHTNING_TRAINER
    section = root.get("lightning", "trainer")
    if section is not None and section.entries and section.entries.keys() <= _TRAINER_ONLY | {"gpus"}:
        return LIGHTNING_SECTION
    if {"DATASETS", "SOLVER"} <= keys and keys & {"SEED", BENCHMARK} and keys & _OF_DETECTRON:
        return DETECTRON
    if len(keys & _TRAINING_ARGUMENTS) >= 3 and keys & {"per_device_train_batch_size", "num_train_epochs"}:
        return TRAINING_ARGUMENTS
    if keys <= _DEEPSPEED | SEEDS and keys & _DEEPSPEED_ONLY and len(keys & _DEEPSPEED) >= 2:
        return DEEPSPEED  # with keys of anyone else it is read by others, too
    if "hydra" in keys or (root.get("defaults") is not None and root.get("defaults").kind == "list"):  # type: ignore[union-attr]
        return HYDRA
    return MONAI if _is_bundle(root) else ""


def _is_bundle(root: Node) -> bool:
    """A MONAI bundle's training config: components with ``_target_``, and what is run or initialized."""
    if not root.entries.keys() & {"initialize", "run", "training", "initialize_lines"}:
        return False
    parts = [root, *(value for _, value in root.entries.values())]
    return any("_target_" in part.entries for part in parts)
