"""Findings about the commands of launchers."""

from __future__ import annotations

from pathlib import Path

SERVE = "#!/bin/bash\nexport SEED=1\nvllm serve model --seed $SEED{}\n"


def test_a_server_that_a_script_starts(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("serve.sh").write_text(SERVE.format(""))
    ran = d9mlint("serve.sh", "--fail-on", "info")
    assert ran.code == 1
    assert "serve.sh:3:1: info batch-variance" in ran.out
    assert "    3 | vllm serve model --seed $SEED\n" in ran.out


def test_a_comment_takes_it_away_and_a_cure_leaves_something_that_was_checked(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("serve.sh").write_text(SERVE.format("  # d9m: ignore[batch-variance] a demo"))
    report = d9mlint(".", "--format", "json").json
    assert (report["findings"], report["suppressed"]) == ([], 1)
    Path("serve.sh").write_text("VLLM_BATCH_INVARIANT=1 " + SERVE.format("").splitlines()[2] + "\n")
    assert d9mlint(".").code == 0


def test_versions_and_selection_count(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("serve.sh").write_text("export VLLM_BATCH_INVARIANT=1\n" + SERVE.format(""))
    old = d9mlint(".", "--target", "vllm==0.9.2", "--format", "json").json["findings"]
    assert [(one["rule"], one["line"], one["remedy"]) for one in old] == [
        ("batch-variance", 4, "batch-invariant kernels came with vllm 0.11.1")
    ]
    assert d9mlint(".", "--target", "vllm==0.9.2", "--ignore", "batch-variance").out.startswith("No findings.")


def test_nothing_is_told_of_launchers_that_were_not_named(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("serve.sh").write_text(SERVE.format(""))
    Path("train.py").write_text("print(1)\n")
    assert d9mlint("train.py", "--format", "json").json["findings"] == []
