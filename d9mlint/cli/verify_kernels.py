"""``d9mlint verify --kernels``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

import click

from d9mlint.cli.ending import ended_like_interrupted
from d9mlint.cli.output import look, show
from d9mlint.cli.verify_progress import progress

if TYPE_CHECKING:
    from d9mlint.app.verify.plan import VerifyOptions
    from d9mlint.model.emulation import KernelEvidence


def verify_kernels(asked: VerifyOptions, options: Mapping[str, object]) -> NoReturn:
    """Runs probes and specified kernels, shows the report, and exits."""
    from d9mlint.app.verify import kernels as app
    from d9mlint.app.verify.ops import exit_code
    from d9mlint.report.evidence import kernels

    if not options["kernels"]:
        raise click.UsageError("--spec goes with --kernels")
    plan = app.planned(asked, options["spec"], options["include"])  # type: ignore[arg-type]
    if plan.probes or plan.launches:
        click.echo(f"d9mlint: {app.announcement(plan, asked)}", err=True)
    state = app.VerifyingKernels(plan)

    def write(report: KernelEvidence, growing: bool) -> None:
        """The report and the evidence; a report that grows goes to files alone."""
        if options["output"] is not None or not growing:
            show(kernels.render(report, str(options["format_"]), **look(options)), options)
        if options["record"] is not None:
            show(kernels.record(report), {"output": options["record"]})

    total = len(plan.probes) + len(plan.launches)
    with (
        ended_like_interrupted(),
        progress(total, lambda: write(state.report("still running"), True), noun="kernels") as under_way,
    ):
        app.verify(state, asked, under_way)
    report = state.report()
    write(report, False)
    click.get_current_context().exit(exit_code(report.evidence))
