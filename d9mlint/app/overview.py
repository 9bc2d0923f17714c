"""What a folder holds for d9mlint: the first half of a check, for who does not know yet what to ask for."""

from __future__ import annotations

from pathlib import Path

from d9mlint import config as configuration
from d9mlint.app import besides
from d9mlint.app.launches import started
from d9mlint.app.options import Options, shown, start
from d9mlint.app.programs import reach_of, roots_of, targets_of
from d9mlint.discover import KERNEL_SOURCES, discover
from d9mlint.model import Overview, Report, UsageError
from d9mlint.target import Resolver


def overview(options: Options) -> Overview:
    """What a check with these options would look at; nothing is judged.

    Raises:
        UsageError, ConfigError: as `check`.
    """
    cwd = Path.cwd()
    config = configuration.load(start(options.paths), options.config)
    reach = reach_of(options, config, {})
    launched, found = started(discover(options.paths, config), options, reach.peek, cwd)
    configs = tuple(besides.kinds(found, reach.peek))
    if not (found.files or found.kernels or configs):
        raise UsageError("nothing to check here: no Python file, no kernel source, no known config file")
    resolver = Resolver(options.target, config.target, config.root, options.device or config.device)
    targets = targets_of(found, roots_of(config, found, reach), reach, launched, resolver)
    entries = tuple(shown(path, cwd) for path in found.entries)
    sources = [path for path in found.kernels if path.name.endswith(KERNEL_SOURCES)]
    report = Report(
        (), {name: targets[name] for name in entries}, entries, len(found.files), unchecked=found.unchecked,
        launches={name: launched.launches[name] for name in entries if name in launched.launches},
    )  # fmt: skip
    return Overview(
        report, configs, len(sources), tuple(shown(path, cwd) for path in found.kernels if path not in set(sources)),
        shown(config.path, cwd) if config.path else "",
    )  # fmt: skip
