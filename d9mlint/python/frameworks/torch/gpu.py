"""Whether a PyTorch program runs on a GPU, and what trains there.

PyTorch stays on the CPU unless it is told otherwise, so a program that names no device is none that runs on a GPU.
What cannot be told (a device out of a configuration) is what the target says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import Cond, both, by_default, either, flag_test, is_symbolic, negate, opaque
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import ends
from d9mlint.python.domain.tellable import loosened
from d9mlint.python.domain.values import Class, Const, FlagValue, Inst, Obj, Ref, Unknown, Value, alternatives
from d9mlint.python.frameworks.tensorflow import devices
from d9mlint.python.frameworks.torch import evaluating
from d9mlint.python.frameworks.torch.modules.functions import INSIDE
from d9mlint.python.frameworks.torch.networks import is_network
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import LOOPS, Program, matches

TRAINER = "lightning.pytorch.Trainer"
_CPU = re.compile(r"(cpu|mps|xla|meta|tpu)\b")
_IDLE = re.compile(
    r"torch\.cuda\.(is_\w+|device_count|manual_seed\w*|seed\w*|empty_cache|synchronize|random\.\w+|current_device|"
    r"get_\w+|reset_\w+|max_memory_\w+|memory_\w+|ipc_collect|initial_seed|set_rng_state\w*)"
)
"""Calls that ask, or that do nothing where there is no GPU."""
_ON_GPU = re.compile(r"\.(is_cuda\b|device\.type ?== ?.cuda)")
"""What asks whether a tensor is on a GPU."""
_MAKES = re.compile(r"torch\.(\w*Tensor|tensor|as_tensor|from_numpy|zeros|ones|empty)")
_MOVERS = frozenset({"torch.accelerator.current_accelerator", "deepspeed.initialize"})
_USERS = frozenset(
    {
        "torch.accelerator.set_device_index", "torch.nn.DataParallel", "tinycudann.Encoding", "tinycudann.Network",
        "tinycudann.NetworkWithInputEncoding", "nvdiffrast.torch.RasterizeCudaContext",
        "nvdiffrast.torch.RasterizeGLContext",
    }
)  # fmt: skip
"""What works with a GPU but moves nothing there that is not told by itself: tinycudann and nvdiffrast have kernels for
nothing else (bindings/torch/tinycudann/modules.py of 2.0, nvdiffrast/torch/ops.py of 0.3.3)."""
_TENSOR = "torch.Tensor."
_HF_TRAINER = "transformers.Trainer"
"""What a trainer of Transformers is, and those of other packages that are derived from it: they take a GPU, too."""
_DETECTING = (
    "accelerate.Accelerator", "lightning.fabric.Fabric",
    TRAINER, "composer.Trainer", "fastai.Learner", "fastai.vision_learner", "fastai.cnn_learner", "fastai.unet_learner",
    "fastai.text_classifier_learner", "fastai.language_model_learner", "fastai.tabular_learner",
    "fastai.collab_learner",
    "sentence_transformers.SentenceTransformer", "sentence_transformers.CrossEncoder",
    "detectron2.engine.DefaultTrainer", "detectron2.engine.DefaultTrainer.__init__", "detectron2.modeling.build_model",
    "detectron2.engine.DefaultTrainer.build_model", "mmengine.runner.Runner", "mmengine.runner.Runner.from_cfg",
    "mmdet.apis.train_detector", "mmseg.apis.train_segmentor", "mmcls.apis.train_model",
    "fairseq.trainer.Trainer", "fairseq_cli.train.cli_main", "flair.trainers.ModelTrainer", "speechbrain.Brain",
    "speechbrain.Brain.__init__",
)  # fmt: skip
"""What takes a GPU where there is one (composer/utils/device.py of 0.32.1, fastai/torch_core.py of 2.8.12,
sentence_transformers/util/environment.py of 6.2.0; detectron2/config/defaults.py (MODEL.DEVICE) of 0.6,
mmengine/device/utils.py of 0.10.7, apis/train.py of mmdet 2.28.2, mmseg 0.30.0 and mmcls 0.25.0, flair/__init__.py of
0.15.1, fairseq/trainer.py of 0.12, speechbrain/core.py of 1.1.2)."""
_CHOOSERS = ("torch.device", "torch.set_default_device", "torch.set_default_tensor_type")
_CUDA = "cuda"
_GROUP = "torch.distributed.init_process_group"
_DEVICE = Argument(0, "device")
_OF_DEVICES = re.compile(r"dev|^gpu$|(^|_)rank$")
"""How flags are called whose values name devices: numbers are those of GPUs."""
_RANK = "rank"
"""Where a number comes from that tells processes apart: each has the GPU of its number (``model.to(rank)``)."""
_PACKAGES = re.compile(
    r"(torch|lightning|transformers|accelerate|deepspeed|ignite|monai|fastai|composer|timm|sentence_transformers|"
    r"detectron2|mmengine|mmcv|mmdet|mmseg|mmcls|fairseq(_cli)?|speechbrain|flair)\."
)


def on_gpu(program: Program) -> Cond:
    """When the program moves anything to a GPU."""
    return program.once("torch-on-gpu", _on_gpu)


def _on_gpu(program: Program) -> Cond:
    if program.story.local:
        return True  # another program says where this file runs
    kept: list[Cond] = []
    placed: list[Cond] = []
    used: list[Cond] = []
    networks: list[Cond] = []
    perhaps = moves = False
    for event in _concerned(program):
        if event.name.replace("()", "") in _DETECTING and not event.detached:
            kept.append(both(*event.guards, negate(_detected(event))))
        for told, conds in ((placed, _placing(event)), (used, _using(event))):
            for cond in conds:
                if cond is None or event.detached:
                    perhaps = perhaps or cond is not False
                    moves = moves or (told is placed and cond is not False)
                elif cond is not False:
                    when = loosened(both(*event.guards, cond))
                    (used if _follows(event) or _is_by_the_way(event) else told).append(when)
                    networks += [when] if told is placed and not event.name.startswith(_TENSOR) else []
    # Where the program says what it moves to a GPU, that decides, not what else needs one, such as several processes:
    # nor does that where something is moved by code that nobody is seen to call, or to a device that is not known. And
    # where it moves networks under a condition, that decides, not which tensors are moved in between.
    there, of_networks = either(*placed), either(*networks)
    if not moves and of_networks is not False and is_symbolic(of_networks):
        there = of_networks
    found = loosened(there if moves or there is not False else either(*used))
    elsewhere = negate(either(*kept))  # a trainer that is told to stay on the CPU decides for the program
    possible = both(devices.on_gpu(program), elsewhere if is_symbolic(elsewhere) else True)
    return both(perhaps if found is False else found, possible)


def _concerned(program: Program) -> Iterator[Event]:
    """The calls that may need a GPU, or name a device, in order."""
    named, replaced = set(program.named(_may_use, "call")), _replaced(program)
    return (
        event for event in program.events
        if event.kind == "call" and event.index not in replaced
        and (event in named or _DEVICE.keyword in event.kwargs or _is_trainer(event))
    )  # fmt: skip


def _may_use(called: str) -> bool:
    """Whether a call of this name may need a GPU, or move something there, whatever it is given."""
    name = called.replace("()", "")
    moves = name in _MOVERS or name in _CHOOSERS or name.rpartition(".")[2] in ("cuda", "to")
    return moves or name in _DETECTING or name in _USERS or name.startswith(("torch.cuda.", _GROUP))


def _is_trainer(event: Event) -> bool:
    """Whether a call makes a trainer that is one of Transformers', too: trl's."""
    return any(effect.returns == _HF_TRAINER for effect in event.effects)


def _follows(event: Event) -> bool:
    """Whether what a call moves goes where something else is already: ``if x.is_cuda: mask = mask.cuda()``."""
    tests = (test for cond in event.guards if (test := opaque(cond)) is not None)
    return any(_ON_GPU.search(test.text) for test in tests)


def _is_by_the_way(event: Event) -> bool:
    """Whether a call moves what is made on the spot, and goes where the networks are: not what is computed with."""
    made = event.receiver.event if isinstance(event.receiver, Obj) else None
    return made is not None and _MAKES.fullmatch(made.name) is not None


def _replaced(program: Program) -> frozenset[int]:
    """The indices of devices made at the top of a file that nothing is given, as a name is assigned another one."""
    devices = [e for e in program.calls("torch.device") if isinstance(e.result, Obj) and e.func is None]
    made = {id(e.result): e.index for e in devices}
    if len(made) < 2:
        return frozenset()
    given = {id(leaf) for e in program.events for value in _given(e) for _, leaf in alternatives(value)}
    unused = frozenset(index for key, index in made.items() if key not in given)
    return unused if len(unused) < len(made) else frozenset()


def _given(event: Event) -> Iterator[Value]:
    yield from event.args
    yield from event.kwargs.values()


def _using(event: Event) -> Iterator[Cond]:
    """Conditions under which a call needs a GPU, though it moves nothing there."""
    name = event.name.replace("()", "")
    if name in _USERS or (name.startswith("torch.cuda.") and not _IDLE.fullmatch(name)):
        yield True
    elif name == _GROUP:
        yield matches(event.argument(Argument(0, "backend")), "nccl")


def _placing(event: Event) -> Iterator[Cond | None]:
    """Conditions under which a call names a GPU; None where it names a device that is not known."""
    name = event.name.replace("()", "")
    last = name.rpartition(".")[2]
    if name in _MOVERS or (last == "cuda" and name != "torch.version.cuda"):
        yield True
    elif name in _DETECTING or _is_trainer(event):
        yield _detected(event)
    elif name in _CHOOSERS or last == "to":
        value = event.argument(_DEVICE)
        yield from _named(value if value is not None else event.kwargs.get("type"), last != "to")
    elif _DEVICE.keyword in event.kwargs and (name.startswith(("torch.", "?.")) or not event.effects):
        yield from _named(event.kwargs[_DEVICE.keyword], False)


def _detected(event: Event) -> Cond:
    """Trainers look for a GPU unless they are told not to."""
    named = (matches(event.kwargs.get(name), "cpu") for name in ("accelerator", "device"))
    asked = (matches(event.kwargs.get(name), True) for name in ("cpu", "use_cpu"))
    return negate(either(*named, *asked))


def _named(value: Value | None, only_devices: bool) -> Iterator[Cond | None]:
    for cond, leaf in alternatives(value):
        found = _leaf(leaf, only_devices)
        yield found if found is None else both(cond, found)


def _leaf(leaf: Value, only_devices: bool) -> Cond | None:
    if isinstance(leaf, Const):
        if isinstance(leaf.value, str):
            return bool(leaf.value) and not _CPU.match(leaf.value)  # an empty name moves nothing
        return isinstance(leaf.value, int) and not isinstance(leaf.value, bool)
    if isinstance(leaf, FlagValue):
        if leaf.flag.kind != "value" or not (only_devices or _OF_DEVICES.search(leaf.flag.name)):
            return False
        return negate(flag_test(leaf.flag, "==", "cpu"))
    if isinstance(leaf, Ref):
        return None if leaf.name.endswith("device") else "cuda" in leaf.name and "Tensor" in leaf.name
    if isinstance(leaf, Obj):
        return False  # made by a call that is told by itself
    if not isinstance(leaf, Unknown):
        return False
    if ends(leaf)[0].startswith(_CUDA):
        return True  # "cuda:{}".format(number)
    return True if _RANK in leaf.origins else None if only_devices or "dev" in leaf.name else False


_WEIGHTED = re.compile(r"torch\.nn\.(RNN|LSTM|GRU|Conv|Embedding|Linear|Bilinear|Transformer|MultiheadAttention)\w*")


def left_behind(program: Program, layer: Event) -> bool:
    """Whether a layer with weights stays on the CPU, as the program moves single layers of other modules alone."""
    owner = _module(layer)
    moved = program.once("torch-moved-modules", _moved_modules) if owner is not None else frozenset()
    return bool(moved) and id(owner) not in moved and _WEIGHTED.fullmatch(layer.name) is not None


def _moved_modules(program: Program) -> frozenset[int]:
    """The classes of modules, by ``id``, that move layers of their own to a GPU; none where more is moved there."""
    found: set[int] = set()
    for event in program.events:
        if event.kind not in ("call", "unresolved") or not (_moves(event) or any(c is not False for c in _gpu(event))):
            continue
        owner = _module(event)
        if owner is None or any(isinstance(leaf, Inst) for _, leaf in alternatives(event.receiver)):
            return frozenset()
        found.add(id(owner))
    return frozenset(found)


def _gpu(event: Event) -> Iterator[Cond | None]:
    yield from _placing(event)
    yield from _using(event)


def _moves(event: Event) -> bool:
    """Whether a call moves something, or makes it, on a device other than the CPU by name."""
    moving = event.name.rpartition(".")[2] in ("to", "cuda")
    device = event.argument(_DEVICE) if moving else event.kwargs.get("device")
    on_cpu = isinstance(device, Const) and isinstance(device.value, str) and bool(_CPU.match(device.value))
    return (moving or device is not None) and not on_cpu


def _module(event: Event) -> Class | None:
    """The class of the program, a module, in whose methods something happens."""
    owner = event.func.owner if event.func is not None else None
    return owner if owner is not None and is_network(owner) else None


# -- training ------------------------------------------------------------------------------------------------------


_GRADIENT = "torch.autograd.grad"
_AFTER_BACKWARD = ("backward", "step", "zero_grad")


def trainings(program: Program) -> list[Event]:
    """Events that train with PyTorch, loops first, then those that run by default, that are called at once, in order.

    What a library may call later, with whatever arguments, is told after what the program itself calls.

    A ``backward`` whose gradients are thrown away (it warms up, or makes memory be allocated) is none of them, unless
    there is nothing else. ``autograd.grad`` hands its gradients back and leaves those of the weights as they are, so a
    ``backward`` beside it says more of the training: the other may be for a penalty, or a picture of the gradient.
    """
    return program.once("torch-trainings", _trainings)


def _trainings(program: Program) -> list[Event]:
    trains = (e for e in program.trains if not e.inside(INSIDE))  # (what runs there is part of another gradient)
    found = [e for e in trains if _is_torch(program, e) and not evaluating.only(program, e)]
    names = [f"{TRAINER}{made}.fit" for made in ("", "()")]
    names += [f"transformers.{kind}Trainer{made}.train" for kind in ("", "Seq2Seq") for made in ("", "()")]
    found += [e for e in program.calls(*names) if e not in found]
    thrown = program.once("thrown-away-gradients", _thrown_away)
    found = [e for e in found if e.index not in thrown] or found
    return sorted(found, key=_rank)


def _rank(event: Event) -> tuple[bool, bool, bool, bool, bool, int]:
    unusual = by_default(both(*event.guards)) is False
    looped = event.name.rpartition(".")[2] in LOOPS
    return event.detached, not looped, unusual, event.name == _GRADIENT, event.deferred, event.index


def _thrown_away(program: Program) -> frozenset[int]:
    """The indices of calls of ``backward`` whose gradients are set to zero before anything steps.

    Both stand in one loop of one function, so that no step of another turn of the loop comes between.
    """
    thrown = set()
    last: Event | None = None
    for event in program.events:
        name = event.name.rpartition(".")[2]
        if event.kind != "call" or name not in _AFTER_BACKWARD:
            continue
        if name == "zero_grad" and last is not None and _together(last, event):
            thrown.add(last.index)
        last = event if name == "backward" else None
    return frozenset(thrown)


def _together(event: Event, later: Event) -> bool:
    return bool(event.loops) and (event.func, event.stack, event.loops) == (later.func, later.stack, later.loops)


def _is_torch(program: Program, event: Event) -> bool:
    if event.name.endswith(".backward"):
        return "torch" in frameworks_of(program)
    return bool(_PACKAGES.match(event.name))
