"""``d9mlint trace``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from d9mlint.cli.arguments import WithArguments, launched
from d9mlint.cli.ending import ended_like_interrupted
from d9mlint.cli.output import color_option, look, show, tried
from d9mlint.writing import replaced

FORMATS = ("text", "json", "html")


@click.command(cls=WithArguments)
@click.argument("script", required=False, type=click.Path(path_type=Path), metavar="[SCRIPT|-- LAUNCHER ...] [-- ARGS]")
@click.option("-m", "module", metavar="MODULE", help="Run a module instead of a script, as `python -m` does.")
@click.option("--python", metavar="INTERPRETER", help="The training environment's interpreter (default: this one).")
@click.option("--runs", type=click.IntRange(2), default=2, show_default=True, help="Runs that are compared at first.")
@click.option("--steps", type=click.IntRange(0), default=20, show_default=True, metavar="N",
              help="End a run after N steps of its optimizers; 0: let it run to its end.")  # fmt: skip
@click.option("--time", type=click.FloatRange(0, min_open=True), default=600.0, show_default=True, metavar="SECONDS",
              help="For all runs together.")  # fmt: skip
@click.option(
    "--cure",
    is_flag=True,
    help="Try the patches of `check --fix --unsafe-fixes` on a copy: do its runs part, and what do they cost?",
)
@click.option("--shadow", type=click.IntRange(2), metavar="K",
              help="Also execute each op of PyTorch K times on the same inputs: which vary by themselves?")  # fmt: skip
@click.option("--call", type=click.Path(path_type=Path), metavar="FILE.py",
              help="Write a minimal call of the op where they part, for `verify --op NAME --make`.")  # fmt: skip
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="Output format.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the report to a file.")
@click.option("--config", type=click.Path(path_type=Path), help="Configuration file (pyproject.toml or d9mlint.toml).")
@color_option
@click.option("--debug", is_flag=True, hidden=True)
def trace(script: Path | None, module: str | None, **options: object) -> None:
    """Run a program more than once, and tell where its runs part.

    Executes the program in fresh processes, in this folder: do two runs give the same losses and weights, which switch
    (seeds, deterministic ops, one thread, ...) makes them, and which line and op is the first to differ?
    """
    from d9mlint.app.traced import stages as app
    from d9mlint.app.traced.programs import planned
    from d9mlint.app.traced.state import TraceOptions
    from d9mlint.report.trace import render

    launcher, arguments = launched(script, module)
    asked = TraceOptions(
        script=script, module=module, launcher=launcher, arguments=arguments,
        python=options["python"], runs=int(options["runs"]), steps=int(options["steps"]),  # type: ignore[call-overload, arg-type]
        time=float(options["time"]), config=options["config"],  # type: ignore[arg-type]
        cure=bool(options["cure"]), shadow=int(options["shadow"] or 0),  # type: ignore[call-overload]
    )  # fmt: skip
    program = planned(asked)
    tried(options["call"], options["output"])
    click.echo(f"d9mlint: {app.announcement(program, asked)}", err=True)
    watched = sys.stderr.isatty()
    with ended_like_interrupted():
        report = app.trace(program, asked, lambda text: click.echo(f"d9mlint: {text}", err=True) if watched else None)
    format_ = str(options["format_"])
    _called(app.call(report), options["call"])
    show(render(report, format_, **look(options)), options)
    click.get_current_context().exit(app.exit_code(report))


def _called(text: str, path: object) -> None:
    """Writes the minimal call, or says that there is none."""
    if not isinstance(path, Path):
        return
    if text:
        replaced(path, text.encode())
    else:
        click.echo("d9mlint: --call: there is no op of PyTorch with a call that can be made again", err=True)
