"""Calls a function after a module was imported by the program; nothing is imported for it."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class _Loader:
    """The module's own loader, and what is to happen after it; the module is left with its own."""

    def __init__(self, real: Any, call: Callable[[Any], None]) -> None:
        self._real, self._call = real, call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def create_module(self, spec: Any) -> Any:
        """As the real one."""
        return self._real.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """As the real one, then the hooks."""
        module.__loader__ = self._real
        if module.__spec__ is not None:
            module.__spec__.loader = self._real
        self._real.exec_module(module)
        self._call(module)


class Importing:
    """A finder in front of all others that knows the modules with hooks."""

    def __init__(self, failed: Callable[[str], None]) -> None:
        self._failed = failed
        self._hooks: dict[str, list[Callable[[Any], None]]] = {}
        sys.meta_path.insert(0, self)

    def after(self, name: str, hook: Callable[[Any], None]) -> None:
        """``hook`` gets the module when it has been imported: at once if it already is."""
        if name in sys.modules:
            self._called([hook], sys.modules[name])
        else:
            self._hooks.setdefault(name, []).append(hook)

    def _called(self, hooks: list[Callable[[Any], None]], module: Any) -> None:
        for hook in hooks:
            try:
                hook(module)
            except Exception as error:  # noqa: BLE001 (a hook that fails must not be the program's failure)
                self._failed("%s cannot be hooked: %s: %s" % (module.__name__, type(error).__name__, error))  # noqa: UP031

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec that the other finders give, with hooks after its execution."""
        hooks = self._hooks.get(name)
        if not hooks:
            return None
        del self._hooks[name]
        for finder in [one for one in sys.meta_path if one is not self]:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, partial(self._called, hooks))
                return spec
        self._hooks[name] = hooks  # it is not there, or not yet
        return None
