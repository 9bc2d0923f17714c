"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from d9mlint.writing import PRIVATE, replaced


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_mode_of_a_file_is_kept_and_a_link_stays_one(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("before")
    real.chmod(0o640)
    link.symlink_to(real)
    replaced(link, b"after", PRIVATE)
    assert (real.read_text(), mode(real), link.is_symlink()) == ("after", 0o640, True)


def test_a_new_file_has_the_mode_that_is_asked_for(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        replaced(tmp_path / "shared", b"")
        replaced(tmp_path / "private", b"", PRIVATE)
    finally:
        os.umask(before)
    assert (mode(tmp_path / "shared"), mode(tmp_path / "private")) == (0o644, 0o600)


def test_what_cannot_be_written_leaves_all_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kept"
    path.write_text("before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        replaced(path, b"after")
    assert [one.name for one in tmp_path.iterdir()] == ["kept"]
    assert path.read_text() == "before"


def test_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        replaced(pipe, b"said")
        assert os.read(reader, 16) == b"said"
    finally:
        os.close(reader)
