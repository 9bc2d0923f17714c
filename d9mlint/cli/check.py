"""``d9mlint check``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from d9mlint.cli.arguments import ARGV, WithArguments
from d9mlint.cli.completion import rule_names
from d9mlint.cli.output import color_option, links, look, show
from d9mlint.cli.progress import progress
from d9mlint.model import CONFIDENCES, SEVERITIES
from d9mlint.model.evidence import CONFIRMED
from d9mlint.report import FORMATS
from d9mlint.report.summary import changed

if TYPE_CHECKING:
    from d9mlint.app import Outcome
    from d9mlint.discover.changed import Since


def fail_on_words(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The value of ``--fail-on``: a severity, ``confirmed``, or both with a comma."""
    if value is None:
        return None
    words = [word.strip() for word in value.split(",")]
    extra = [word for word in words if word != CONFIRMED]
    if len(words) - len(extra) > 1 or len(extra) > 1 or not {*extra} <= {*SEVERITIES}:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(SEVERITIES)}, {CONFIRMED}, or a severity and it")
    return ",".join(words)


def revision(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The value of ``--changed-since``: an empty one is a variable of a script that is not set."""
    if value is not None and not value.strip():
        raise click.BadParameter("a revision is missing (HEAD, origin/main, a commit)")
    return value


@click.command(cls=WithArguments)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[PATHS]... [-- SCRIPT ARGS]")
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", help="Output format.")
@click.option("--output", type=click.Path(path_type=Path), help="Write the report to a file.")
@click.option("--target", multiple=True, metavar="REQ", help="Framework versions, e.g. tensorflow==2.4.1 (repeatable).")
@click.option("--device", type=click.Choice(("gpu", "cpu", "tpu")), help="Device the program runs on (default gpu).")
@click.option("--select", multiple=True, metavar="NAMES", shell_complete=rule_names,
              help="Only these rules, ids or families (comma separated).")  # fmt: skip
@click.option("--ignore", multiple=True, metavar="NAMES", shell_complete=rule_names,
              help="Not these rules, ids or families.")  # fmt: skip
@click.option("--fail-on", metavar="WORDS", callback=fail_on_words,
              help="What makes the exit code 1: a least severity, confirmed, or both (error,confirmed).")  # fmt: skip
@click.option("--min-confidence", type=click.Choice(CONFIDENCES), help="Show findings from this confidence on.")
@click.option("--evidence", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Records of `verify`, reports of `trace`: say which findings they confirm; repeatable.")  # fmt: skip
@click.option("--config", type=click.Path(path_type=Path), help="Configuration file (pyproject.toml or d9mlint.toml).")
@click.option("--baseline", type=click.Path(path_type=Path), help="Hide the findings recorded in this file.")
@click.option("--write-baseline", type=click.Path(path_type=Path), help="Record the present findings.")
@click.option("--launcher", metavar="FILE[:LINE]", help="Judge as started there: its environment and arguments.")
@click.option("--fix", is_flag=True, help="Apply the safe fixes.")
@click.option("--diff", is_flag=True, help="Show what --fix would change; in JSON and SARIF, the fix of each finding.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also what changes speed or behaviour.")
@click.option("-j", "--jobs", type=click.IntRange(0), default=0, help="Worker processes (default: one a core).")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
              help="CPU time that an entry may take (default: no limit); where it ends is told.")  # fmt: skip
@click.option("--plan", is_flag=True, help="Show who seeds what, the switches and the data instead of findings.")
@click.option("--verbose", is_flag=True, help="Show all of the coverage: what was not seen to be called, and why.")
@click.option("--stdin-filename", type=click.Path(path_type=Path), metavar="FILE",
              help="With - as the path: the file whose new content stands on standard input.")  # fmt: skip
@click.option("--changed-since", metavar="REV", callback=revision,
              help="Judge only the entries that reach a file which has changed since then, by git.")  # fmt: skip
@click.option("--pre-commit", is_flag=True,
              help="Judge only the entries that reach a file of the commit for which pre-commit runs.")  # fmt: skip
@click.option("--quiet", is_flag=True, help="No progress bar.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@color_option
@click.option("--debug", is_flag=True, hidden=True)
def check(words: tuple[str, ...], **options: object) -> None:
    """Lint Python training programs.

    Files named are entry scripts; in folders, files with a __main__ guard are. Arguments after -- are those of the
    script: the program is then judged as run with them.
    """
    from d9mlint.app import Options
    from d9mlint.app import check as run

    context = click.get_current_context()
    words, given = _standard_input(words, options)
    with progress(quiet=bool(options["quiet"])) as watch:
        outcome = run(
            Options(
                paths=tuple(Path(p) for p in words or (".",)),
                target=tuple(options["target"]),  # type: ignore[arg-type]
                device=options["device"],  # type: ignore[arg-type]
                select=_names(options["select"]),
                ignore=_names(options["ignore"]),
                fail_on=options["fail_on"],  # type: ignore[arg-type]
                min_confidence=options["min_confidence"],  # type: ignore[arg-type]
                config=options["config"],  # type: ignore[arg-type]
                baseline=options["baseline"],  # type: ignore[arg-type]
                write_baseline=options["write_baseline"],  # type: ignore[arg-type]
                jobs=int(options["jobs"]),  # type: ignore[call-overload]
                cache=not options["no_cache"],
                argv=context.meta.get(ARGV),
                launcher=options["launcher"],  # type: ignore[arg-type]
                fix=bool(options["fix"]),
                diff=bool(options["diff"]),
                fixes=options["format_"] in ("json", "sarif"),
                plan=bool(options["plan"]) or options["format_"] == "html",
                unsafe_fixes=bool(options["unsafe_fixes"]),
                timeout=options["timeout"],  # type: ignore[arg-type]
                stdin=given,
                since=_since(options),
                evidence=tuple(options["evidence"]),  # type: ignore[arg-type]
                watch=watch,
            )
        )
    show(outcome.text if outcome.text is not None else _render(outcome, str(options["format_"]), options), options)
    silent = options["format_"] not in ("text", "json", "html") or outcome.text is not None
    for note in (outcome.note, changed(outcome.report.changed) if silent else ""):
        if note:
            click.echo(note, err=True)
    context.exit(outcome.code)


_FROM = "PRE_COMMIT_FROM_REF"
"""Set by pre-commit where it is asked about a range of commits (pre-commit.com, "pre-commit run")."""


def _since(options: dict[str, object]) -> Since | None:
    """What files are compared with."""
    from d9mlint.discover.changed import Since

    revision = options["changed_since"]
    if not options["pre_commit"]:
        return None if revision is None else Since(str(revision))
    if revision is not None:
        raise click.UsageError("--changed-since and --pre-commit exclude each other")
    before = os.environ.get(_FROM, "")
    return Since(before) if before else Since("HEAD", staged=True)


def _standard_input(words: tuple[str, ...], options: dict[str, object]) -> tuple[tuple[str, ...], bytes | None]:
    """The paths, and for ``-`` what stands on standard input in the place of the named file."""
    name = options["stdin_filename"]
    if "-" not in words and name is None:
        return words, None
    if words != ("-",) or name is None:
        raise click.UsageError("standard input is read by `d9mlint check - --stdin-filename FILE`")
    if options["fix"]:
        raise click.UsageError("--fix cannot write to standard input: --diff shows what it would change")
    return (str(name),), sys.stdin.buffer.read()


def _names(values: object) -> tuple[str, ...]:
    return tuple(n.strip() for v in values for n in v.split(",") if n.strip())  # type: ignore[attr-defined]


def _render(outcome: Outcome, format_: str, options: dict[str, object]) -> str:
    from d9mlint.report import render

    shown = {"verbose": bool(options["verbose"]), "plan": bool(options["plan"]), "links": links(options)}
    return render(outcome.report, format_, **look(options), **shown)
