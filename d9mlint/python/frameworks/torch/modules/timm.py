"""Models of the program's own that timm makes by their names: ``@register_model`` and ``create_model(args.model)``."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument
from d9mlint.python.domain.choices import MAX_THINGS
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Const, FlagValue, Func, Ref, Value
from d9mlint.python.interpreter import calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library import dispatch, environment

_CREATE = "timm.create_model"
_NAME, _PRETRAINED = Argument(0, "model_name"), Argument(1, "pretrained")
_OWN = frozenset({"model_name", "checkpoint_path", "scriptable", "exportable", "no_jit", "cache_dir"})
"""Arguments that ``create_model`` does not hand on (timm/models/factory.py of 0.4.12, _factory.py of 1.0.15)."""
_BY_NAME = "`timm.create_model` takes it by a name that is only known at run time"


def _create_model(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """The program's own function that is registered under the name; None where the model is one of timm's."""
    name = event.argument(_NAME)
    models = dict(_registered(interp))
    wanted = name.flag.default if isinstance(name, FlagValue) else name.value if isinstance(name, Const) else None
    if not models or (wanted is not None and wanted not in models):
        return None
    if isinstance(name, Const) or len(models) > MAX_THINGS:
        found: Value | None = models.get(wanted) if isinstance(wanted, str) else None
    else:
        found = dispatch.chosen(models, name or Const(None), "the model", _BY_NAME, event.location)
    if found is None:
        return None
    given = {key: value for key, value in event.kwargs.items() if key not in _OWN}
    pretrained = event.argument(_PRETRAINED)
    if pretrained is not None:
        given[_PRETRAINED.keyword] = pretrained
    return calls.call(interp, found, [], given, frame, environment.place_of(event), event.star)


def _registered(interp: Interpreter) -> Iterator[tuple[str, Value]]:
    for module in interp.story.modules:
        names = module.frame.vars if module.frame is not None else {}
        for name, value in names.items():
            if isinstance(value, Func) and any(map(_registers, value.decorators)):
                yield name, value


def _registers(decorator: Value) -> bool:
    return (
        isinstance(decorator, Ref) and decorator.name.startswith("timm.") and decorator.name.endswith("register_model")
    )


TRANSFER: dict[str, Transfer] = {_CREATE: _create_model}
