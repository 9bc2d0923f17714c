"""What of the networks that a PyTorch program trains is made or computed by code that is not seen."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from d9mlint.python.domain.conditions import Cond, both, is_symbolic
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import UNKNOWN, Class, Func, Inst, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.torch.modules.functions import APPLY
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, results

SOMETHING = ""
"""What cannot be named: a value that is not known."""
_TRAINED = ("parameters", "named_parameters")
_LAYER = re.compile(r"torch\.nn\.(modules\.\w+\.)?[A-Z]\w*(\(\))?$")
_CONTAINER = re.compile(r"torch\.nn\.(Sequential|Module(List|Dict)|Parameter(List|Dict))$")
_WRAPPER = re.compile(
    r"(\.(DistributedDataParallel|DataParallel|FullyShardedDataParallel|DDP|fully_shard|parallelize_module|checkpoint_wrapper)|"
    r"^torch\.compile|^torch\.jit\.(script|trace)|"
    r"(Accelerator|Fabric)(\(\))?\.(prepare\w*|setup\w*))$"
)
"""Calls that hand on the network that they are given."""
_MODULES = ("nn.Module", "LightningModule")
_MODULE = "Module"
_OTHERS = frozenset(
    {"flax", "haiku", "equinox", "jax", "tensorflow", "keras", "sonnet", "objax", "paddle", "mxnet", "mindspore"}
)
"""Packages whose modules are none of PyTorch's."""
_CONVOLUTIONS = re.compile(
    r"torchvision\.models\.(\w+\.)?(wide_resnet|resnet|resnext|mobilenet|efficientnet|regnet|convnext|mnasnet)\w*$|"
    r"monai\.networks\.nets\.(\w+\.)?(U[Nn]et|AttentionUnet|VNet|DynUNet|SegResNet(DS|VAE)?|PatchDiscriminator)$"
)
"""Networks of convolutions and plain means alone, which the catalogue of ops knows (torchvision/models;
monai/networks/nets: unet.py, attentionunet.py, vnet.py, dynunet.py, segresnet.py, segresnet_ds.py and
patchgan_discriminator.py of 1.6.1)."""
_DENSE = re.compile(r"torchvision\.ops\.(misc\.)?MLP$|learn2learn\.vision\.models\.(cnn4\.)?OmniglotFC$")
"""Networks of dense layers alone (torchvision/ops/misc.py; learn2learn/vision/models/cnn4.py), where nothing varies."""
_SAME_EACH_RUN = re.compile(
    r"timm\.layers\.(DropPath|drop_path|to_([1234]|n)tuple|make_divisible|trunc_normal_\w*|variance_scaling_|lecun_normal_)$|"
    r"fairscale\.nn\.([\w.]+\.)?checkpoint_wrapper$|deepspeed\.checkpointing\.checkpoint$"
)
"""Layers that only scale or drop, what fills weights once, and what computes a part of a network again for its gradient
(timm/layers: drop.py, helpers.py, weight_init.py; fairscale/nn/checkpoint/checkpoint_activations.py)."""
_NETWORKS = re.compile(
    r"torchvision\.models\.|transformers\.|monai\.networks\.|detectron2\.|torch_geometric\.|dgl\.nn\.|timm\.models\."
)
"""Modules of networks, which take others as parts of their own; what else takes a network wraps it."""
_MAKERS = re.compile(
    r"timm\.|torch\.hub\.|diffusers\.|segmentation_models_pytorch\.|mm(engine|det|seg|cls|pretrain|pose|action)\."
)
"""Packages whose networks are made by name."""
_CONFIGURED = frozenset({"mmengine.runner.Runner.from_cfg"})
"""Calls that make what they train out of settings alone (mmengine/runner/runner.py of 0.10.7)."""
_MESSAGES = re.compile(r"torch_geometric\.nn\.(\w+\.)*(\w+Conv|GAT|GCN|GIN|GraphSAGE|LightGCN|PNA)$")
"""Layers and networks that add up what comes over the edges of a graph (torch_geometric/nn/conv/message_passing.py)."""
_SORTED = ("torch_geometric.transforms.ToSparseTensor", "torch_geometric.utils.to_torch_csr_tensor")
"""Calls that give the edges in the order of their ends, where each sum is made by one thread."""
_REMOTE = re.compile(r"torch\.distributed\.nn\.([\w.]+\.)?RemoteModule$")
_SAME = re.compile(r"\.(to|cuda|cpu|train|eval|float|half|double|bfloat16|requires_grad_|apply|share_memory)(\(\))?$")
_FAMILIAR = re.compile(
    r"\?|torch\.(?!hub\.)|torchvision\.(transforms|utils|datasets|io)\b|torchmetrics\b|numpy\b|einops\b|wandb\b|absl\b|"
    r"torch_xla\b|(\w+\.)*load_\w+$|transformers\.\w*(Tokenizer|Processor|FeatureExtractor)(Fast)?\b|yacs\b|"
    r"monai\.(transforms|metrics|data|utils)\b|monai\.losses\.(\w+\.)?(Dice|GeneralizedDice|Tversky|Focal|DiceFocal)Loss\b|"
    r"lightning\.(?!.*\bdemos\b)|lightning_utilities\b|matplotlib\b|rich\b|tqdm\b|PIL\b|typing_extensions\b"
)
"""Names whose computations are known to the catalogue of ops, or are no part of a network: what loads weights, say."""
_HELPERS = re.compile(
    r"_?(is|has|check|validate)_\w+|"
    r"_?(can|supports?|warn|find|get|resolve|parse|list|download|locate)_(\w+_)?"
    r"(available|version|config|file|path|folder|dir|name|url|args)s?(_\w+)?|"
    r"\w*(Config|Configuration|ConfigDict|CfgNode|Logger)|get_cfg|hf_hub_download|cached_file|snapshot_download"
)
"""Names of what answers a question, finds a file or reads settings: no tensor goes in, none comes out."""


_BUILDING = ("?", "torch.", "monai.bundle.")
"""How names begin that say nothing of the network they give."""


class Unseen(NamedTuple):
    """What is trained or called in a network without being seen; ``cond`` is what has to hold wherever it is."""

    name: str
    cond: Cond = True
    compiled: bool = False
    """It is called by an autograd function of the program: most probably a kernel of an extension."""


def unseen(program: Program) -> tuple[Unseen, ...]:
    """What is trained or called in networks without being seen, each name once, in order; empty if all is seen.

    Networks are what optimizers are given the parameters of, and classes of the program that are modules. A program
    that hands no parameters to anything trains ``SOMETHING``.
    """
    return program.once("unseen-networks", _unseen)


def _unseen(program: Program) -> tuple[Unseen, ...]:
    found: dict[str, Unseen] = {}
    makers = results(program)
    applied = _applied(program)
    trained = False
    for event in program.events:
        if event.kind not in ("call", "unresolved"):
            continue
        owner = _owner(event)
        if event.name in _CONFIGURED and not event.detached:
            trained = True
            found[_named(event)] = Unseen(_named(event))
        elif event.name.rpartition(".")[2] in _TRAINED:
            trained = True
            found.update((name, Unseen(name)) for name in _opaque(event.receiver, makers))
        elif _of_module(event) and not event.detached and not _familiar(event):
            found[_named(event)] = Unseen(_named(event))
        elif owner in applied and (_of_extension(event) or not _familiar(event)):
            name = _extension(event)
            if name != SOMETHING:  # (what an autograd function is handed is seen where it is made)
                found.setdefault(name, Unseen(name, _shared(applied[owner]), compiled=True))
    return tuple(found.values()) if trained else (Unseen(SOMETHING), *found.values())


def _shared(calls: list[Event]) -> Cond:
    """What can be told of when any of several calls happens: the conditions that all of them have."""
    first, *others = [e.guards for e in calls]
    return both(*(g for g in first if is_symbolic(g) and all(g in guards for guards in others)))


def _opaque(value: Value | None, makers: Makers, depth: int = 8) -> Iterator[str]:
    """What a network is made of that is not seen."""
    for _, leaf in alternatives(value):
        made = leaf.event if isinstance(leaf, Obj) else makers.get(id(leaf))
        if isinstance(leaf, Inst):
            continue
        if isinstance(leaf, Seq) and leaf.items is not None and depth:
            for item in leaf.items:
                yield from _opaque(item, makers, depth - 1)
        elif made is None or not depth:
            yield SOMETHING
        elif _SAME.search(made.name) and made.receiver is not None:
            yield from _opaque(made.receiver, makers, depth - 1)
        elif _CONTAINER.match(made.name):
            for part in made.args:
                yield from _opaque(part, makers, depth - 1)
        elif _WRAPPER.search(made.name):
            yield from _opaque(_wrapped(made), makers, depth - 1)
        elif not _known(made):
            inner = None if _NETWORKS.match(made.name) else _wrapped(made)
            if inner is None or isinstance(inner, Seq) or any(True for _ in _opaque(inner, makers, depth - 1)):
                yield _named(made)


def _wrapped(made: Event) -> Value | None:
    """What a call that hands on a network is given."""
    return made.args[0] if made.args else made.kwargs.get("module", made.kwargs.get("model"))


def handed_on(made: Event) -> Value | None:
    """The network that a call is given and hands on, in parallel or compiled; None where it makes one."""
    return _wrapped(made) if _WRAPPER.search(made.name) else None


def add_up_messages(program: Program, names: Iterable[str]) -> bool:
    """Whether one of some networks adds up messages of edges that are in no order of their ends, as far as is seen."""
    if program.imports("torch_sparse") or program.calls(*_SORTED):
        return False
    return any(_MESSAGES.match(name) for name in names)


def of_networks(name: str) -> bool:
    """Whether a name is that of something in a package of networks, in most of which something varies."""
    return bool(_NETWORKS.match(name) or _MAKERS.match(name))


def draws_nothing(name: str) -> bool:
    """Whether a call makes no weights: layers that only scale or drop, what asks or reads settings."""
    return bool(_SAME_EACH_RUN.match(name)) or any(_HELPERS.fullmatch(part) for part in name.split(".")[-2:])


def _known(made: Event) -> bool:
    """Whether the catalogue of ops tells what a layer or network of another package computes."""
    remote = made.args[1] if len(made.args) > 1 else made.kwargs.get("module_cls")
    if _REMOTE.match(made.name):
        leaves = [leaf for _, leaf in alternatives(remote)]
        return bool(leaves) and all(
            isinstance(v, Class) or (isinstance(v, Ref) and _LAYER.match(v.name)) for v in leaves
        )
    return any(names.match(made.name) for names in (_LAYER, _CONVOLUTIONS, _DENSE, _SAME_EACH_RUN))


def _of_module(event: Event) -> bool:
    """Whether it happens in a method of a network of the program."""
    owner = _owner(event)
    return owner is not None and is_network(owner)


def is_network(cls: Class) -> bool:
    """Whether a class is a module of PyTorch's, also where its base is one that another package derives from that."""
    return any(
        base.endswith(_MODULES) or (base.endswith(_MODULE) and base.partition(".")[0] not in _OTHERS)
        for base in cls.external()
    )


def _owner(event: Event) -> Class | None:
    return event.func.owner if isinstance(event.func, Func) else None


def _applied(program: Program) -> dict[Class | None, list[Event]]:
    """The classes of the program whose ``forward`` and ``backward`` run when they are applied, with these calls."""
    found: dict[Class | None, list[Event]] = {}
    for event in program.calls(APPLY):
        for _, leaf in alternatives(event.receiver):
            if isinstance(leaf, Class) and not event.detached:
                found.setdefault(leaf, []).append(event)
    return found


def _of_extension(event: Event) -> bool:
    """Whether it calls what was imported from a compiled module: ``from package import _C``, then ``_C.f()``."""
    named = event.receiver.name if isinstance(event.receiver, Unknown) else ""
    return event.name.startswith("?.") and "." in named and named.partition(".")[0] != "ctx"


def _extension(event: Event) -> str:
    module = event.receiver.name if isinstance(event.receiver, Unknown) and event.name.startswith("?.") else ""
    return f"{module.lstrip('.')}.{event.name.rpartition('.')[2]}" if module else _named(event)


def _familiar(event: Event) -> bool:
    return event.kind == "call" and _is_familiar(event.name)


@lru_cache(maxsize=4096)
def _is_familiar(called: str) -> bool:
    name = called.replace("()", "").removesuffix(".__call__")
    root = called.partition(".")[0]
    return (
        any(known.match(name) for known in (_FAMILIAR, _CONVOLUTIONS, _DENSE, _SAME_EACH_RUN))
        or any(_HELPERS.fullmatch(part) for part in name.split(".")[-2:])
        or root == "builtins"
        or root in sys.stdlib_module_names
    )


def _named(event: Event) -> str:
    name = event.raw.replace("().__call__", "").replace("()", "")
    return SOMETHING if event.kind == "unresolved" or name.startswith(_BUILDING) else name


_COUNTS = ("parameters", "named_parameters", "print")
"""Last names of calls that look at a network without computing with it."""
_COUNTED = ("builtins.sum", "builtins.len", "builtins.print")
"""What may be done with the weights that are looked at."""


def only_counted(program: Program, network: Event) -> bool:
    """Whether a whole network is made only to look at its weights: how many there are, what they are called."""
    if not _CONVOLUTIONS.match(network.name):
        return False
    users = list(_users(program, network.result))
    used = any(user.name not in _COUNTED for e in users for user in _users(program, e.result))
    return bool(users) and not used and all(e.name.rpartition(".")[2] in _COUNTS for e in users)


def _users(program: Program, value: Value | None) -> Iterator[Event]:
    """The calls that are given a value, or that are methods of it."""
    if value is None or value is UNKNOWN:
        return
    for event in program.events:
        if event.kind in ("call", "unresolved") and any(
            leaf is value
            for given in (event.receiver, *event.args, *event.kwargs.values())
            for _, leaf in alternatives(given)
        ):
            yield event
