"""``d9mlint explain`` and ``d9mlint rules``."""

from __future__ import annotations

import os
from pathlib import Path

import click

DEFECTIVE = 1


@click.command()
@click.argument("name")
@click.option("--target", multiple=True, metavar="REQ", help="Show the remedy for these versions.")
@click.option("--evidence", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="What `d9mlint verify --record` kept (repeatable).")  # fmt: skip
def explain(name: str, target: tuple[str, ...], evidence: tuple[Path, ...]) -> None:
    """Tell about a rule (by name or id) or an op (by its API name), and what was seen of executing it."""
    from d9mlint.app.backing import named
    from d9mlint.catalogue import load
    from d9mlint.catalogue.observed import own_records
    from d9mlint.catalogue.render import explain as text
    from d9mlint.python.batch.run import newest_target

    wanted = newest_target(target, "gpu") if target else None
    records = (*named(evidence, Path.cwd()), *own_records())
    click.echo(text(name, load(), wanted, records), nl=False)


@click.group()
def rules() -> None:
    """List, test and document the rules."""


@rules.command("list")
def list_() -> None:
    """All rules, a line each."""
    from d9mlint.catalogue import load
    from d9mlint.catalogue.render import rules_table

    click.echo(rules_table(load()), nl=False)


@rules.command()
@click.argument("names", nargs=-1)
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
    """Start a new rule file, with the next free id."""
    from d9mlint.catalogue import load
    from d9mlint.catalogue.template import new_rule

    path = os.path.relpath(new_rule(load(), place))
    click.echo(f"wrote {path}: fill it in, then run `d9mlint rules test {place.partition('/')[2]}`")


def _lines(places: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name}:{line}" for name, line in places) or "nothing"


@rules.command()
@click.option("--check", is_flag=True, help="Only say whether README.md is up to date.")
@click.argument("readme", type=click.Path(path_type=Path, dir_okay=False), default="README.md")
@click.pass_context
def docs(ctx: click.Context, check: bool, readme: Path) -> None:
    """Write the generated tables of rules and of evidence into README.md."""
    from d9mlint.catalogue import load
    from d9mlint.catalogue.observed import own_records
    from d9mlint.catalogue.render import with_index
    from d9mlint.catalogue.seen import with_evidence

    if not readme.is_file():
        raise click.UsageError(f"path not found: {readme}")
    text = readme.read_text(encoding="utf-8")
    wanted = with_evidence(with_index(text, load()), own_records())
    if check and text != wanted:
        click.echo(f"{readme} is out of date: run `d9mlint rules docs`")
        ctx.exit(DEFECTIVE)
    if not check:
        readme.write_text(wanted, encoding="utf-8")
