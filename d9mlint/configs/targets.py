"""Classes and functions that config files name (``_target_: nets.UNet``): programs make objects by such names."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE = re.compile(r"""^(?P<indent>[ \t]*)(?:- )?["']?(?P<key>[\w.]+)["']?[ \t]*:[ \t]*(?P<value>[^#\n]*)""")
_NAMES = frozenset({"_target_", "target", "class_path", "class", "cls", "class_name"})
"""Keys of hydra 1 and before, of latent-diffusion's ``instantiate_from_config``, and of Lightning's command line."""
_CALLED = re.compile(r"(?:\w+_)?(?:type|name|target|cls|class|arch|model|network|dataset)")
"""Keys under which programs with a registry of their own find the plain name of a class (BasicSR's ``type: EDSR``)."""
_IMPORTED = re.compile(r"(?:\w+_)?(?:type|name|module|model|network|dataset|trainer)")
"""Keys under which programs find the dotted name of a module of their own (imaginaire's ``type: nets.small``)."""
_SETS = frozenset({"deterministic"})
"""Keys of settings that programs hand on as they are (``Trainer(**config.trainer)``): told where they are on."""
_ON = frozenset({"true", "1", "warn", "yes", "on"})
_SEED = "seed"
_ANY = re.compile(
    "|".join(
        sorted(_NAMES | _SETS | {_SEED, "type", "name", "arch", "model", "network", "dataset", "module", "trainer"})
    ).encode()
)
_CLASS = re.compile(r"_*[A-Z]\w*")
_FILE = re.compile(r"[\w./-]+\.py")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
_MODULE = re.compile(r"[a-z_]\w*(\.[a-z_]\w*)+")
_KEY = re.compile(rb"""[A-Za-z_]\w*(?=["']?[ \t]*:)""")
ARGUMENT = "="
"""Ends what is no name, but a key that stands in a file which names classes: perhaps an argument of one."""
MODULE = ":"
"""Ends the dotted name of what may be a module."""
_QUOTES = "\"', \t\r"
MAX_BYTES = 200_000
"""Of one file: a larger one holds data."""


def named(path: str, data: bytes) -> Iterator[tuple[str, str]]:
    """Pairs of the key under which something is named and its dotted name; a file's own keys stand under its folder.

    So are paths of Python files, and, each under its own key and the one above, what may be plain names of classes, or
    dotted names of modules. Of a file with names of classes all keys come, too, under none: what they name is made with
    some of them as arguments.

    Read by lines (YAML, and JSON with a key a line): hydra's interpolations need no YAML parser, and files that are
    none cannot fail.
    """
    if len(data) > MAX_BYTES or _ANY.search(data) is None:
        return
    above: list[tuple[int, str]] = []
    makes = False
    for line in data.decode("utf-8", "replace").splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        indent, key, value = len(match["indent"]), match["key"], match["value"].strip(_QUOTES)
        while above and above[-1][0] >= indent:
            above.pop()
        if key in _NAMES and _DOTTED.fullmatch(value):
            makes = True
            yield (above[-1][1] if above else path.rpartition("/")[0].rpartition("/")[2]), value
        elif _is_setting(key, value) or _FILE.fullmatch(value):
            yield key, value
        elif _CALLED.fullmatch(key) and _CLASS.fullmatch(value):
            makes = makes or bool(above)
            yield (f"{above[-1][1]}.{key}" if above else key), value
        elif _IMPORTED.fullmatch(key) and _MODULE.fullmatch(value):
            yield (f"{above[-1][1]}.{key}" if above else key), value + MODULE
        above.append((indent, key))
    if makes:
        yield from (("", key.decode() + ARGUMENT) for key in sorted({*_KEY.findall(data)}))


def _is_setting(key: str, value: str) -> bool:
    return (key in _SETS and value.lower() in _ON) or (key == _SEED and value.isdigit())
