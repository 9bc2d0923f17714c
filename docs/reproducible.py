"""Builds the wheel and the source archive twice, in folders of their own, and compares their hashes.

`python docs/reproducible.py` prints a line a file as `sha256sum` does, and ends with 1 where the builds differ. With a
FOLDER it keeps the first build there.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "dist", "build", "__pycache__", ".*_cache", ".hypothesis")


def built(work: Path, umask: int) -> dict[str, str]:
    """The hashes of what is built of a copy of the checkout, made with other permissions."""
    source, out = work / "source", work / "dist"
    shutil.copytree(ROOT, source, ignore=_LEFT_OUT, copy_function=shutil.copy)  # copies have the time of now
    run = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)]
    before = os.umask(umask)
    try:
        done = subprocess.run(run, capture_output=True, text=True, check=False)
    finally:
        os.umask(before)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(out.iterdir())}


def main(keep: Path | None) -> int:
    """Builds twice; 0 where both builds are the same."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        one, other = built(Path(first), 0o022), built(Path(second), 0o077)
        for name, digest in one.items():
            print(f"{digest}  {name}{'' if other.get(name) == digest else '  DIFFERS'}")
        if keep is not None:
            shutil.copytree(Path(first) / "dist", keep, dirs_exist_ok=True)
    return int(one != other)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else None))
