"""``d9mlint kernels``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from d9mlint.cli.output import color_option, look, show
from d9mlint.model import SEVERITIES

if TYPE_CHECKING:
    from d9mlint.app.kernels.scan import KernelOutcome

FORMATS = ("text", "json", "sarif", "html", "github")
INVENTORIES = ("text", "json", "html")
"""Formats that show more than findings."""


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH...]")
@click.option("--installed", metavar="NAME", help="Instead of sources: a built package, folder, wheel or library.")
@click.option("--python", metavar="INTERPRETER", help="Whose packages --installed means; it is run to find them.")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="Output format.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the report to a file.")
@click.option("--write", type=click.Path(path_type=Path), metavar="OPS.yaml", help="Write the ops that can vary.")
@click.option("--draft-spec", type=click.Path(path_type=Path), metavar="SPEC.yaml",
              help="Draft a specification for `verify --kernels` of the kernels that can vary.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Show also sites that cannot vary (text).")
@click.option("--fix", is_flag=True, help="Insert PyTorch's alert before kernels that vary, where that is certain.")
@click.option("--diff", is_flag=True, help="Show what --fix would change.")
@click.option("--fail-on", type=click.Choice(SEVERITIES), help="Least severity that makes the exit code 1.")
@click.option("--config", type=click.Path(path_type=Path), help="Configuration file (pyproject.toml or d9mlint.toml).")
@click.option("--baseline", type=click.Path(path_type=Path), help="Hide the findings recorded in this file.")
@click.option("--write-baseline", type=click.Path(path_type=Path), help="Record the present findings.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@color_option
@click.option("--debug", is_flag=True, hidden=True)
def kernels(paths: tuple[Path, ...], **options: object) -> None:
    """Judge the atomic operations in C++ and CUDA sources.

    Tells which can make a result vary from run to run, in which op the user meets them, and what deterministic mode
    does about it. Name the project's folder, not only that of its kernels: the way to Python is looked for in it.

    With --installed it lists the atomics in the GPU code of a build instead, without source and without executing it.
    """
    outcome = _installed(paths, options) if options["installed"] is not None else _sources(paths, options)
    if options["fix"] or options["diff"]:
        outcome = _fixed(paths, options, outcome)
    if options["draft_spec"] is not None:
        outcome = _drafted(paths, options, outcome)
    format_ = str(options["format_"])
    everything = bool(options["everything"])
    from d9mlint.report.kernels import render

    diff = outcome.diff
    show(render(outcome.report, format_, everything=everything, **look(options)) if diff is None else diff, options)
    if outcome.note:
        click.echo(outcome.note, err=True)
    click.get_current_context().exit(outcome.code)


def _sources(paths: tuple[Path, ...], options: Mapping[str, object]) -> KernelOutcome:
    """The scan of sources."""
    from d9mlint.app.kernels.scan import run
    from d9mlint.app.options import Options
    from d9mlint.report.kernels import prepare

    if not paths:
        raise click.UsageError("name a PATH with kernel sources, or --installed NAME for a built package")
    if options["python"] is not None:
        raise click.UsageError("--python says whose packages --installed means: it needs --installed")
    asked = Options(
        paths=paths,
        fail_on=options["fail_on"],  # type: ignore[arg-type]
        config=options["config"],  # type: ignore[arg-type]
        baseline=options["baseline"],  # type: ignore[arg-type]
        write_baseline=options["write_baseline"],  # type: ignore[arg-type]
        cache=not options["no_cache"],
    )
    listing = click.get_current_context().obj
    return run(asked, options["write"], listing, lambda: prepare(str(options["format_"])))  # type: ignore[arg-type]


def _fixed(paths: tuple[Path, ...], options: Mapping[str, object], outcome: KernelOutcome) -> KernelOutcome:
    """What is there after the alerts were inserted, or the outcome with what that would change."""
    from d9mlint.app.kernels.fixing import fixed
    from d9mlint.app.options import Options

    if options["fix"] and options["diff"]:
        raise click.UsageError("--fix and --diff exclude each other")
    config = options["config"]
    asked = Options(paths=paths, config=config)  # type: ignore[arg-type]
    diff, note = fixed(asked, outcome, write=bool(options["fix"]))
    if options["fix"]:
        return _sources(paths, options)._replace(note=note)
    return outcome._replace(diff=diff, note=note)


def _drafted(paths: tuple[Path, ...], options: Mapping[str, object], outcome: KernelOutcome) -> KernelOutcome:
    from d9mlint.app.kernels.drafts import written

    note = written(paths, outcome, Path(str(options["draft_spec"])))
    return outcome._replace(note="\n".join(filter(None, (outcome.note, note))))


def _installed(paths: tuple[Path, ...], options: Mapping[str, object]) -> KernelOutcome:
    """The scan of a build: an inventory without findings, so all that is about findings does not go with it."""
    from d9mlint.app.kernels.installed import run

    if paths:
        raise click.UsageError("--installed NAME scans a build, PATH scans sources: name one of them")
    for name in ("write", "fix", "diff", "draft_spec", "fail_on", "config", "baseline", "write_baseline"):
        if options[name]:
            raise click.UsageError(f"--{name.replace('_', '-')} does not go with --installed, which has no findings")
    if options["format_"] not in INVENTORIES:
        raise click.UsageError(f"--installed has no findings: choose --format {', '.join(INVENTORIES)}")
    python = options["python"]
    return run(str(options["installed"]), None if python is None else str(python), cache=not options["no_cache"])
