"""How programs of Detectron2 start: the command line, the tree of settings, and what ``default_setup`` makes of them.

Source: detectron2/config/defaults.py, detectron2/engine/defaults.py (``default_argument_parser``, ``default_setup``,
``DefaultTrainer``), launch.py and detectron2/modeling/meta_arch/build.py of 0.6.
"""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import Cond, flag_test, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    FlagValue,
    Func,
    Inst,
    Obj,
    Ref,
    Seq,
    Value,
    alternatives,
)
from d9mlint.python.frameworks.torch import registries
from d9mlint.python.interpreter import attributes, callbacks, calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library import dispatch
from d9mlint.python.interpreter.library.environment import place_of

_NODE = "detectron2.config.CfgNode"
_SEED, _BENCHMARK = "SEED", "CUDNN_BENCHMARK"
_MODEL, _DEVICE = "MODEL", "DEVICE"
_DEFAULTS = {_SEED: -1, _BENCHMARK: False}
"""What ``get_cfg`` gives of the settings that are read here."""
_TRAINER, _BUILD = "detectron2.engine.DefaultTrainer", "build_model"
_REGISTER, _ARCHITECTURE = "detectron2.modeling.META_ARCH_REGISTRY.register", "MODEL.META_ARCHITECTURE"
_SWITCHES = ("--resume", "--eval-only")
_VALUES = {"--config-file": "", "--num-gpus": 1, "--num-machines": 1, "--machine-rank": 0, "--dist-url": ""}
"""The arguments of ``default_argument_parser``."""
_MAIN, _MAIN_ARGUMENTS = Argument(0, "main_func"), Argument(5, "args")
_CFG, _GIVEN = Argument(0, "cfg"), "seed"


def _get_cfg(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``get_cfg()``, ``_C.clone()``: a tree with the defaults, which files and the command line change."""
    node = Obj(_NODE, event)
    node.attrs.update({name: Const(value) for name, value in _DEFAULTS.items()})
    node.attrs[_MODEL] = model = Obj(_NODE, event)
    model.attrs[_DEVICE] = Const("cuda")
    return node


def _argument_parser(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``default_argument_parser()``: a parser with the flags of a training, and what is merged into the settings."""
    place = place_of(event)
    parser = calls.call(interp, Ref("argparse.ArgumentParser"), [], {}, frame, place)
    add = attributes.attribute(interp, parser, "add_argument", frame, place)
    for name in _SWITCHES:
        calls.call(interp, add, [Const(name)], {"action": Const("store_true")}, frame, place)
    for name, default in _VALUES.items():
        kind = {} if isinstance(default, str) else {"type": Ref("builtins.int")}
        calls.call(interp, add, [Const(name)], {"default": Const(default), **kind}, frame, place)
    calls.call(interp, add, [Const("opts")], {"default": NONE, "nargs": Ref("argparse.REMAINDER")}, frame, place)
    return parser


def _launch(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``launch(main, num_gpus, args=(args,))``: calls the function, in processes of its own if they are several."""
    main, given = event.argument(_MAIN) or UNKNOWN, event.argument(_MAIN_ARGUMENTS)
    items = [] if given is None else given.items if isinstance(given, Seq) else None
    return calls.call(interp, main, items or [], {}, frame, place_of(event), star=items is None)


def _default_setup(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``default_setup(cfg, args)`` seeds with ``cfg.SEED``, and sets cuDNN's ``benchmark`` as ``cfg`` says."""
    cfg, place = event.argument(_CFG) or UNKNOWN, place_of(event)
    event.kwargs[_GIVEN] = _seed_of(attributes.attribute(interp, cfg, _SEED, frame, place))
    if isinstance(cfg, Obj) and _BENCHMARK in cfg.attrs:
        benchmark = attributes.attribute(interp, cfg, _BENCHMARK, frame, place)
        if not (isinstance(benchmark, FlagValue) and benchmark.flag.default is False):  # nobody asks for it
            interp.set_attribute(Ref("torch.backends.cudnn"), "benchmark", benchmark, frame, place)
    return NONE


def _seed_of(setting: Value) -> Value:
    """The seed that the generators get: None, which has one drawn, where the setting is negative."""
    found: list[tuple[Cond, Value]] = []
    for cond, leaf in alternatives(setting):
        if isinstance(leaf, Const) and _is_negative(leaf.value):
            found.append((cond, NONE))
        elif isinstance(leaf, FlagValue) and _is_negative(leaf.flag.default):
            unset = flag_test(leaf.flag, "==", leaf.flag.default)
            found.append((cond, choose([(unset, NONE), (negate(unset), leaf)])))
        else:
            found.append((cond, leaf))
    return choose(found)


def _is_negative(value: object) -> bool:
    return isinstance(value, int) and value < 0


# -- networks ------------------------------------------------------------------------------------------------------


def _build_model(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``build_model(cfg)``: one of the networks that the program has registered, where it has any."""
    _note_device(interp, event, frame)
    found = registries.registered(interp, (_REGISTER,))
    if not found:
        return None
    place = place_of(event)
    made = dispatch.of_table(interp, Dict(found), UNKNOWN, _ARCHITECTURE, frame, place)
    return calls.call(interp, made, list(event.args[-1:]), {}, frame, place)


def _note_device(interp: Interpreter, event: Event, frame: Frame) -> None:
    """Notes at a call where the network goes, where the program itself says so: ``cfg.MODEL.DEVICE = "cpu"``."""
    place = place_of(event)
    model = attributes.attribute(interp, event.args[-1] if event.args else UNKNOWN, _MODEL, frame, place)
    device = attributes.attribute(interp, model, _DEVICE, frame, place)
    if isinstance(device, Const) or (isinstance(device, FlagValue) and device.flag.name != f"{_MODEL}.{_DEVICE}"):
        event.kwargs["device"] = device


def _trainer(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``DefaultTrainer(cfg)``, ``super().__init__(cfg)``: makes the network and the loader by methods of its own."""
    _note_device(interp, event, frame)
    place = place_of(event)
    own = event.args[0] if event.args else None
    cfg = list(event.args[-1:])
    build = attributes.class_attribute(interp, own.cls, _BUILD) if isinstance(own, Inst) else None
    network: Value | None
    if isinstance(own, Inst) and isinstance(build, Func):
        network = calls.call(interp, attributes.attribute(interp, own, _BUILD, frame, place), cfg, {}, frame, place)
    else:
        network = _build_model(interp, event, frame)
    for _, leaf in alternatives(network):
        if isinstance(leaf, Inst):
            callbacks.run_protocol(interp, leaf, frame, place)
    return None


TRANSFER: dict[str, Transfer] = {
    **dict.fromkeys(("detectron2.config.get_cfg", "detectron2.config._C.clone"), _get_cfg),
    "detectron2.engine.default_argument_parser": _argument_parser,
    "detectron2.engine.default_setup": _default_setup,
    "detectron2.engine.launch": _launch,
    "detectron2.modeling.build_model": _build_model,
    f"{_TRAINER}.build_model": _build_model,
    _TRAINER: _trainer,
    f"{_TRAINER}.__init__": _trainer,
}
