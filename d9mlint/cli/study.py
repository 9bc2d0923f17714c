"""``d9mlint study``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from d9mlint.cli.arguments import WithArguments, launched
from d9mlint.cli.ending import ended_like_interrupted
from d9mlint.cli.output import color_option, look, show

FORMATS = ("text", "json", "html")


@click.command(cls=WithArguments)
@click.argument("script", required=False, type=click.Path(path_type=Path), metavar="[SCRIPT|-- LAUNCHER ...] [-- ARGS]")
@click.option("-m", "module", metavar="MODULE", help="Run a module instead of a script, as `python -m` does.")
@click.option("--metric", default="last-number", show_default=True, metavar="REGEX|last-number",
              help="The metric in what the program prints: the last match, its group if there is one.")  # fmt: skip
@click.option("--runs", type=click.IntRange(2), default=10, show_default=True, help="Runs of each of the two groups.")
@click.option("--difference", type=float, metavar="X", help="Also tell how many runs a difference of X takes.")
@click.option("--predictions", type=click.Path(path_type=Path), metavar="FILE",
              help="A file that each run writes its predictions to, one a line.")  # fmt: skip
@click.option("--python", metavar="INTERPRETER", help="The training environment's interpreter (default: this one).")
@click.option("--time", type=click.FloatRange(0, min_open=True), default=3600.0, show_default=True, metavar="SECONDS",
              help="For all runs together.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="Output format.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the report to a file.")
@color_option
@click.option("--debug", is_flag=True, hidden=True)
def study(script: Path | None, module: str | None, **options: object) -> None:
    """Run a program many times to its end, and tell how far its results lie apart.

    Half of the runs with seeds that vary and the implementation fixed (deterministic ops, one thread), half with seeds
    fixed and the implementation as it is: spread of the final metric, churn of predictions, distance of the weights,
    and how many runs a difference takes to mean anything.
    """
    from d9mlint.app.traced import study as app
    from d9mlint.app.traced.state import TraceOptions
    from d9mlint.report.study import render

    launcher, arguments = launched(script, module)
    program = TraceOptions(
        script=script, module=module, launcher=launcher, arguments=arguments,
        python=options["python"], steps=0, time=float(options["time"]),  # type: ignore[arg-type]
    )  # fmt: skip
    asked = app.StudyOptions(
        program=program, metric=str(options["metric"]), runs=int(options["runs"]),  # type: ignore[call-overload]
        difference=options["difference"], predictions=options["predictions"],  # type: ignore[arg-type]
    )  # fmt: skip
    state = app.begun(asked)
    click.echo(f"d9mlint: {app.announcement(state)}", err=True)
    watched = sys.stderr.isatty()
    with ended_like_interrupted():
        report = app.studied(state, lambda text: click.echo(f"d9mlint: {text}", err=True) if watched else None)
    format_ = str(options["format_"])
    show(render(report, format_, **look(options)), options)
    click.get_current_context().exit(app.exit_code(report))
