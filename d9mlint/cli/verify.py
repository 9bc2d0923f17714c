"""``d9mlint verify``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from d9mlint.cli.arguments import ARGV, WithArguments
from d9mlint.cli.ending import ended_like_interrupted
from d9mlint.cli.output import color_option, look, show, tried

if TYPE_CHECKING:
    from d9mlint.app.verify import Verifying
    from d9mlint.app.verify_plan import VerifyOptions
    from d9mlint.verify.plan import Plan

FORMATS = ("text", "json", "html")
EXECUTIONS = ("eager", "function", "xla", "jit", "compiled")
FRAMEWORKS = ("cupy", "jax", "numba", "tensorflow", "torch", "triton")


@click.command(cls=WithArguments)
@click.argument("path", required=False, type=click.Path(path_type=Path),
                metavar="[SCRIPT | REPORT.json | SOURCES] [-- SCRIPT ARGS]")  # fmt: skip
@click.option("--op", "ops", multiple=True, metavar="NAME", help="An op, by its name or a call (repeatable).")
@click.option("--make", type=click.Path(path_type=Path), metavar="FILE.py",
              help="Execute the call in this file, its `run`, on what its `make` gives; with one --op.")  # fmt: skip
@click.option("--target", multiple=True, metavar="REQ", help="As in `check`: framework versions of the script.")
@click.option("--launcher", metavar="FILE[:LINE]", help="As in `check`: what starts the script.")
@click.option("--all", "all_", is_flag=True, help="Every op of the catalogue that has a case.")
@click.option("--framework", type=click.Choice(FRAMEWORKS), help="Only ops of this framework.")
@click.option("--execution", "executions", type=click.Choice(EXECUTIONS), multiple=True,
              help="Only cases that run this way (repeatable); `compiled` (torch.compile) only if named.")  # fmt: skip
@click.option("--device", type=click.Choice(("auto", "gpu", "cpu")), default="auto", help="Where to execute.")
@click.option("--runs", type=click.IntRange(5), default=50, show_default=True, help="Runs of a case in each process.")
@click.option("--seconds-per-case", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
              help="A case is repeated no longer in a process (0.7; with --runs most of --timeout).")  # fmt: skip
@click.option("--time", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Begin no case after these.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=60.0, show_default=True, metavar="SECONDS",
              help="Give up on a case that does not answer.")  # fmt: skip
@click.option("--memory", type=click.FloatRange(0, min_open=True), default=8.0, show_default=True, metavar="GIB",
              help="End a process that takes more.")  # fmt: skip
@click.option("--python", metavar="INTERPRETER", help="The training environment's interpreter (default: this one).")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="Output format.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the report to a file.")
@click.option("--record", type=click.Path(path_type=Path), help="Also write the evidence, with its date, to a file.")
@click.option("--config", type=click.Path(path_type=Path), help="Configuration file (pyproject.toml or d9mlint.toml).")
@click.option("--kernels", is_flag=True, help="Run kernels: probes of the kinds in a source folder, those of --spec.")
@click.option("--spec", type=click.Path(path_type=Path), metavar="KERNELS.yaml", help="Your kernels, with arguments.")
@click.option("-I", "include", multiple=True, metavar="FOLDER", help="Where kernels' headers lie (repeatable).")
@color_option
@click.option("--debug", is_flag=True, hidden=True)
def verify(path: Path | None, ops: tuple[str, ...], **options: object) -> None:
    """Execute ops that can vary, and tell whether they do.

    Runs the catalogue's cases of the ops that a script or a report of `check --format json` has findings about, or of
    those named, many times over, in default and in deterministic mode. The script itself is read and never run; only
    --make runs code of yours.

    With --kernels, runs CUDA kernels on a GPU, or permutes their threads on an emulator where there is none.
    """
    from d9mlint.app import verify as app
    from d9mlint.app import verify_plan as planning
    from d9mlint.report.evidence import render

    asked = planning.VerifyOptions(
        path=path, ops=ops, all=bool(options["all_"]),
        framework=options["framework"], executions=options["executions"], device=str(options["device"]),  # type: ignore[arg-type]
        runs=int(options["runs"]), time=options["time"],  # type: ignore[call-overload, arg-type]
        seconds=options["seconds_per_case"], runs_asked=_asked("runs"),  # type: ignore[arg-type]
        timeout=options["timeout"], memory=options["memory"],  # type: ignore[arg-type]
        python=options["python"], config=options["config"],  # type: ignore[arg-type]
        make=options["make"], target=tuple(options["target"]), launcher=options["launcher"],  # type: ignore[arg-type]
        argv=click.get_current_context().meta.get(ARGV),
    )  # fmt: skip
    tried(options["output"], options["record"])
    if options["kernels"] or options["spec"] is not None:
        from d9mlint.cli.verify_kernels import verify_kernels

        verify_kernels(asked, options)
    plan = planning.planned(asked)
    if plan.cases:
        click.echo(f"d9mlint: {planning.announcement(plan, asked)}", err=True)
    with ended_like_interrupted():
        state = _executed(plan, asked)
    report = state.report()
    format_ = str(options["format_"])
    show(render(report, format_, **look(options)), options)
    if options["record"] is not None:
        from d9mlint.report.evidence.record import record

        show(record(report), {"output": options["record"]})
    click.get_current_context().exit(app.exit_code(report))


def _asked(name: str) -> bool:
    """Whether an option is on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _executed(plan: Plan, asked: VerifyOptions) -> Verifying:
    """Executes the plan, with a progress bar where someone can see it."""
    from d9mlint.app import verify as app

    if not sys.stderr.isatty() or not plan.cases:
        return app.verify(plan, asked)
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=len(plan.cases))
        return app.verify(plan, asked, lambda case: bar.update(task, advance=1, description=case.op))
