"""``d9mlint verify``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from d9mlint.cli.arguments import ARGV, WithArguments
from d9mlint.cli.ending import ended_like_interrupted
from d9mlint.cli.output import color_option, look, show, tried
from d9mlint.cli.verify_progress import progress

if TYPE_CHECKING:
    from d9mlint.model import EvidenceReport

FORMATS = ("text", "json", "html")
EXECUTIONS = ("eager", "function", "xla", "jit", "compiled")
_DEVICE = re.compile(r"auto|cpu|gpu(:(\d+|(GPU|MIG)-[\w/-]+))?")
FRAMEWORKS = ("cupy", "jax", "numba", "tensorflow", "torch", "triton")


def device(_: click.Context, __: click.Parameter, value: str) -> str:
    """The value of ``--device``."""
    if not _DEVICE.fullmatch(value):
        raise click.BadParameter(f"{value!r} is not one of auto, cpu, gpu, gpu:NUMBER, gpu:UUID")
    return value


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
@click.option("--device", callback=device, default="auto", metavar="DEVICE",
              help="Where to execute: auto, cpu, gpu, one of several (gpu:1, gpu:MIG-...).")  # fmt: skip
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
    from d9mlint.app.verify import ops as app
    from d9mlint.app.verify import plan as planning
    from d9mlint.report.evidence import render
    from d9mlint.report.evidence.record import record

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
    state = app.Verifying(plan)

    def write(report: EvidenceReport, growing: bool) -> None:
        """The report and the evidence; a report that grows goes to files alone."""
        if options["output"] is not None or not growing:
            show(render(report, str(options["format_"]), **look(options)), options)
        if options["record"] is not None:
            show(record(report), {"output": options["record"]})

    with (
        ended_like_interrupted(),
        progress(len(plan.cases), lambda: write(state.report("still running"), True)) as under_way,
    ):
        app.verify(state, asked, under_way)
    report = state.report()
    write(report, False)
    click.get_current_context().exit(app.exit_code(report))


def _asked(name: str) -> bool:
    """Whether an option is on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
