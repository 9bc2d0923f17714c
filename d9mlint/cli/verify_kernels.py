"""``d9mlint verify --kernels``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

import click

from d9mlint.cli.output import look, show

if TYPE_CHECKING:
    from d9mlint.app.verify_plan import VerifyOptions


def verify_kernels(asked: VerifyOptions, options: Mapping[str, object]) -> NoReturn:
    """Runs probes and specified kernels, shows the report, and exits."""
    from d9mlint.app import verify_kernels as app
    from d9mlint.app.verify import exit_code
    from d9mlint.report.evidence import kernels

    if not options["kernels"]:
        raise click.UsageError("--spec goes with --kernels")
    plan = app.planned(asked, options["spec"], options["include"])  # type: ignore[arg-type]
    if plan.probes or plan.launches:
        click.echo(f"d9mlint: {app.announcement(plan, asked)}", err=True)
    report = app.verify(plan, asked).report()
    format_ = str(options["format_"])
    show(kernels.render(report, format_, **look(options)), options)
    if options["record"] is not None:
        show(kernels.record(report), {"output": options["record"]})
    click.get_current_context().exit(exit_code(report.evidence))
