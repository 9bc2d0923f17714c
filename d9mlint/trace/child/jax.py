"""JAX: each jitted function that is executed is an op, with digests of its arguments and results.

What JAX executes outside of the user's functions is jitted as well, an op or a function of its own at a time. A step is
a call of a function that the user has jitted. So that each call is seen, JAX's shortcut from Python to the compiled
code is left out: in the light probe for the user's functions, in the second stage for all.
"""

from __future__ import annotations

import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from . import sampling
from .arrays import Arrays
from .recorder import OP, digest
from .wrapping import Wrapping

if TYPE_CHECKING:
    from .importing import Importing
    from .recorder import Recorder
    from .stepping import Steps

COMPILED = "jit("
"""How the name of an op begins that is a function which JAX has compiled."""
_CALLS = "jax._src.pjit"
_NEEDED = ("_run_python_pjit", "_pjit_call_impl_python", "_get_fastpath_data")


class _Values:
    """Digests of JAX's arrays, and the events that such values were made by."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._arrays = Arrays()
        self.produced: dict[str, int] = {}
        """By digest, the last event that gave such a value."""

    def array(self, value: Any) -> Any:
        """As NumPy knows it; keys of generators by their bits."""
        return self._arrays.array(sys.modules["numpy"].asarray(getattr(value, "_base_array", value)))

    def described(self, several: Any) -> list[list[Any]]:
        """For each: digest, type, shape, and who has made it."""
        found = []
        for one in several:
            array = self.array(one)
            text = self._arrays(array)
            found.append([text, array.dtype.name, list(array.shape), self.produced.get(text, 0)])
        return found


class _Light:
    """Steps: calls of functions that the user has jitted."""

    def __init__(self, recorder: Recorder, steps: Steps) -> None:
        self._recorder, self._steps = recorder, steps
        self._values = _Values(recorder)
        self.local = threading.local()

    def called(self, real: Any) -> Any:
        """Of what calls a jitted function from Python."""

        def _run_python_pjit(params: Any, flat: Any, function: Any, *args: Any) -> Any:
            recorder, local = self._recorder, self.local
            own = not recorder.worker and _is_own(recorder, function)
            if own:
                self._steps.again()
            before, local.watched = getattr(local, "watched", False), own
            try:
                result = real(params, flat, function, *args)
            finally:
                local.watched = before
            if own:
                local.last = True  # the shortcut of this call is asked for next
                self._stepped(function, result[1])
            return result

        return _run_python_pjit

    def shortcut(self, real: Any) -> Any:
        """Of what gives the shortcut to a function's compiled code."""

        def _get_fastpath_data(*args: Any) -> Any:
            local = self.local
            if getattr(local, "watched", False) or getattr(local, "last", False):
                local.last = getattr(local, "watched", False)
                return None
            return real(*args)

        return _get_fastpath_data

    def _stepped(self, function: Any, outs: Any) -> None:
        if not all(hasattr(one, "addressable_shards") for one in outs):
            return  # it is being traced, as a part of another
        recorder = self._recorder
        with recorder.apart():
            found = self._values.described(outs)
            for one, (text, dtype, shape, _) in zip(outs, found):  # noqa: B905 (Python 3.8)
                if not shape and dtype.startswith(("float", "bfloat")):
                    recorder.event("loss", text, float(one).hex(), dtype)
                    break
            sampling.of_arrays(recorder, [self._values.array(one) for one in outs])
        self._steps.stepped(_named(function), digest("".join(one[0] for one in found).encode()))


def _own(function: Any) -> Any:
    """The user's function under what JAX and `functools` have wrapped around it."""
    for _ in range(20):
        inner = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if inner is None:
            return function
        function = inner
    return function


def _is_own(recorder: Recorder, function: Any) -> bool:
    code = getattr(_own(function), "__code__", None)
    return code is not None and bool(recorder.places.file(code))


def _named(function: Any) -> str:
    return str(getattr(_own(function), "__name__", "a jitted function"))


def install_light(importing: Importing, recorder: Recorder, steps: Steps) -> None:
    """Hooks the calls of jitted functions when JAX has been imported."""
    light, wrapping = _Light(recorder, steps), Wrapping(recorder)

    def imported(jax: Any) -> None:
        recorder.event("uses", "jax", str(jax.__version__))

    def calls(module: Any) -> None:
        missing = [one for one in _NEEDED if not hasattr(module, one)]
        if missing:
            recorder.note("this JAX is not recorded: it has no " + ", ".join(missing))
            return
        wrapping.replace(module, "_run_python_pjit", light.called)
        wrapping.replace(module, "_get_fastpath_data", light.shortcut)

    importing.after("jax", imported)
    importing.after(_CALLS, calls)


def install_ops(importing: Importing, recorder: Recorder) -> None:
    """Records each compiled function that is executed."""
    wrapping = Wrapping(recorder)
    importing.after(_CALLS, partial(_recorded, recorder, _Values(recorder), wrapping))
    importing.after("jax.random", partial(_keys, wrapping))


def _keys(wrapping: Wrapping, module: Any) -> None:
    """The numbers that keys are made of."""

    def made(name: str, real: Any) -> Any:
        def key(seed: Any, *args: Any, **kwargs: Any) -> Any:
            recorder = wrapping.recorder
            if wrapping.told("seed"):
                text = repr(seed)[:80]
                recorder.event("seed", recorder.place(), "jax", "jax.random." + name, digest(text), text)
            return real(seed, *args, **kwargs)

        return key

    for name in ("key", "PRNGKey"):
        wrapping.replace(module, name, partial(made, name))


def _recorded(recorder: Recorder, values: _Values, wrapping: Wrapping, module: Any) -> None:
    def made(real: Any) -> Any:
        def _pjit_call_impl_python(*args: Any, **params: Any) -> Any:
            if recorder.worker or recorder.busy or recorder.closed:
                return real(*args, **params)
            with recorder.apart():
                place = recorder.place()
                ins = values.described(args)  # before: it may give their memory away
                result = real(*args, **params)
                outs = [one[0] for one in values.described(result[0])]
            name = COMPILED + "%s)" % params.get("name", "")  # noqa: UP031
            text = digest(str(params.get("jaxpr", "")))
            number = recorder.event("op", place, OP, name, "", text, ins, outs, [], "", "")
            values.produced.update((one, number) for one in outs)
            return result

        return _pjit_call_impl_python

    wrapping.replace(module, "_pjit_call_impl_python", made)
    wrapping.replace(module, "_get_fastpath_data", lambda real: lambda *args: None)
