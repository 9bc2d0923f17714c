"""``d9mlint explain`` and ``d9mlint rules``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from d9mlint.cli.completion import explained_names, rule_names

DEFECTIVE = 1


@click.command()
@click.argument("name", shell_complete=explained_names)
@click.option("--target", multiple=True, metavar="REQ", help="Show the remedy for these versions.")
@click.option("--evidence", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="What `d9mlint verify --record` kept (repeatable).")  # fmt: skip
def explain(name: str, target: tuple[str, ...], evidence: tuple[Path, ...]) -> None:
    """Tell about a rule (by name or id) or an op (by its API name), and what was seen of executing it."""
    from d9mlint.app.backing import named
    from d9mlint.app.documentation import documented
    from d9mlint.catalogue.observed import own_records
    from d9mlint.catalogue.render.explain import explain as text
    from d9mlint.python.batch.run import newest_target

    wanted = newest_target(target, "gpu") if target else None
    records = (*named(evidence, Path.cwd()), *own_records())
    click.echo(text(name, documented(), wanted, records), nl=False)


@click.group()
def rules() -> None:
    """List, test and document the rules."""


@rules.command("list")
def list_() -> None:
    """All rules, a line each."""
    from d9mlint.catalogue import load
    from d9mlint.catalogue.render.explain import rules_table

    click.echo(rules_table(load()), nl=False)


@rules.command()
@click.argument("names", nargs=-1, shell_complete=rule_names)
@click.pass_context
def test(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Run the examples in the rule files (all, or those of NAMES)."""
    from d9mlint.app import run_examples, selected
    from d9mlint.catalogue import load

    catalogue = load(full=True)
    failed = 0
    results = run_examples(selected(catalogue, names, ()), catalogue)
    for result in results:
        if not result.passed:
            failed += 1
            place = f"rules/{result.rule.family}/{result.rule.name}.yaml:{result.example.line}"
            what = f"expected {_lines(result.expected)}, found {_lines(result.found)}"
            click.echo(f"{place}: {result.example.kind} example: {result.problem or what}")
    click.echo(f"{len(results) - failed} passed, {failed} failed")
    ctx.exit(DEFECTIVE if failed else 0)


@rules.command()
@click.argument("place", metavar="FAMILY/NAME")
def new(place: str) -> None:
    """Start a new rule, with the next free id: its file, its module if it needs one, examples that pass."""
    from d9mlint.catalogue import load
    from d9mlint.catalogue.template import new_rule

    written = ", ".join(os.path.relpath(path) for path in new_rule(load(), place))
    click.echo(f"wrote {written}: fill in, then run `d9mlint rules test {place.partition('/')[2]}`")


def _lines(places: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name}:{line}" for name, line in places) or "nothing"


@rules.command()
@click.option("--check", is_flag=True, help="Say which names of rules and ops in PATHS (README.md, docs) are none.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Write a page for each rule and op, in Markdown.")  # fmt: skip
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.pass_context
def docs(ctx: click.Context, check: bool, output: Path | None, paths: tuple[Path, ...]) -> None:
    """Write the pages of rules and ops, or check that documents name rules and ops that there are."""
    from d9mlint.app.documentation import written, wrong_names

    if check == (output is not None):
        raise click.UsageError("name either --output FOLDER, to write pages, or --check, to check names")
    if output is not None:
        click.echo(f"wrote {written(output)} pages to {output}")
        return
    wrong = list(wrong_names(paths or (Path("README.md"), Path("docs"))))
    for line in wrong:
        click.echo(line)
    ctx.exit(DEFECTIVE if wrong else 0)
