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
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.frameworks.torch import registries
from d9mlint.python.interpreter import attributes, callbacks, calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library import dispatch
from d9mlint.python.interpreter.library.environment import first, place_of
from d9mlint.python.source import facts as f

_NODE = "detectron2.config.CfgNode"
_SEED, _BENCHMARK = "SEED", "CUDNN_BENCHMARK"
_MODEL, _DEVICE = "MODEL", "DEVICE"
_DEFAULTS = {_SEED: -1, _BENCHMARK: False}
"""What ``get_cfg`` gives of the settings that are read here."""
_TRAINER, _BUILD = "detectron2.engine.DefaultTrainer", "build_model"
_MODELING = "detectron2.modeling."
_ARCHITECTURES = f"{_MODELING}META_ARCH_REGISTRY"
_REGISTER, _ARCHITECTURE = f"{_ARCHITECTURES}.register", "MODEL.META_ARCHITECTURE"
_PARTS = {
    "build_backbone": ("BACKBONE_REGISTRY", "MODEL.BACKBONE.NAME"),
    "build_sem_seg_head": ("SEM_SEG_HEADS_REGISTRY", "MODEL.SEM_SEG_HEAD.NAME"),
    "build_proposal_generator": ("PROPOSAL_GENERATOR_REGISTRY", "MODEL.PROPOSAL_GENERATOR.NAME"),
    "build_roi_heads": ("ROI_HEADS_REGISTRY", "MODEL.ROI_HEADS.NAME"),
}
"""What makes a part of a network: its registry, and the setting with its name there. Detectron2 has some of its own."""
_OWN_REGISTRIES = ("detectron2.utils.registry.Registry", "fvcore.common.registry.Registry")
_CONFIGURABLE, _FROM_CONFIG = "detectron2.config.configurable", "from_config"
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


def _build_part(registry: str, setting: str) -> Transfer:
    def build(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
        """``build_backbone(cfg, input_shape)``: what the program has registered for it, where it has."""
        found = registries.registered(interp, (f"{_MODELING}{registry}.register",))
        if not found:
            return None
        place = place_of(event)
        made = dispatch.of_table(interp, Dict(found, True), UNKNOWN, setting, frame, place)
        return calls.call(interp, made, [first(event), first(event, 1)], {}, frame, place)

    return build


def _get(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``HEADS.get(name)``: what the program has given the registry under a name."""
    holder, name = event.receiver, first(event)
    if isinstance(holder, Obj):
        found = registries.held_by(interp, holder)
    else:
        found = registries.registered(interp, (f"{event.name.rpartition('.')[0]}.register",))
    if not found:
        return None
    if isinstance(name, Const):
        return found.get(str(name.value))
    table = Dict(found, not isinstance(holder, Obj))
    return dispatch.of_table(interp, table, name, dispatch.called(name), frame, place_of(event))


def explicit(
    interp: Interpreter, func: Func, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place
) -> tuple[list[Value], dict[str, Value], bool] | None:  # fmt: skip
    """What ``@configurable`` hands to a function called with a configuration: what ``from_config`` makes of that.

    ``Net(cfg)`` is ``Net(**Net.from_config(cfg))`` (detectron2/config/config.py).
    """
    decorator = next((one for one in func.decorators if _is_configurable(interp, one)), None)
    own = args[:1] if func.name == "__init__" else []
    given = args[len(own) :]
    if decorator is None or not isinstance(given[0] if given else kwargs.get("cfg"), (Obj, Unknown)):
        return None
    if given and any(param.kind == "pos" for param in func.node.params[len(own) :]):
        node = given[0]
        if not isinstance(node, Obj) or node.type != _NODE:
            return None
    maker = _maker(interp, decorator, own, frame, place)
    made = calls.call(interp, maker, given, dict(kwargs), frame, place)
    if not isinstance(made, Dict):
        return own, {}, True
    return own, {str(name): interp.resolve(one) for name, one in interp.heap.items(made).items()}, made.open


def _maker(interp: Interpreter, decorator: Value, own: list[Value], frame: Frame, place: f.Place) -> Value:
    """What makes arguments of a configuration: a method of the class, or what the decorator of a function is given."""
    if own:
        cls = own[0].cls if isinstance(own[0], Inst) else UNKNOWN
        return attributes.attribute(interp, cls, _FROM_CONFIG, frame, place)
    event = decorator.event if isinstance(decorator, Obj) else None
    return UNKNOWN if event is None else event.kwargs.get(_FROM_CONFIG, UNKNOWN)


def _is_configurable(interp: Interpreter, decorator: Value) -> bool:
    return calls.decorator_name(interp, decorator) == _CONFIGURABLE


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
    f"{_MODELING}build_model": _build_model,
    f"{_TRAINER}.build_model": _build_model,
    _TRAINER: _trainer,
    f"{_TRAINER}.__init__": _trainer,
    **{f"{_MODELING}{name}": _build_part(*of) for name, of in _PARTS.items()},
    **{f"{_MODELING}{registry}.get": _get for registry, _ in _PARTS.values()},
    f"{_ARCHITECTURES}.get": _get,
    **{f"{registry}().get": _get for registry in _OWN_REGISTRIES},
}
