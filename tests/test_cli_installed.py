"""``d9mlint kernels --installed`` from the command line: packages, wheels, folders, formats, errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, validate
from kernels import fatbins

Run = Callable[..., Any]
LIBRARY = fatbins.library(fatbins.container(fatbins.entry(1, 90, fatbins.PTX.encode(), "lz4")))


def run(*words: str, cwd: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    """``d9mlint kernels --installed ...`` as a user starts it."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [path, str(ROOT)]))}
    command = [sys.executable, "-m", "d9mlint", "kernels", *words]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def installed(folder: Path, name: str = "tensorflow", version: str = "2.21.0", data: bytes = LIBRARY) -> None:
    """A package with one library, as pip leaves it."""
    (folder / name).mkdir(parents=True)
    (folder / name / "libops.so.2").write_bytes(data)
    (folder / name / "__init__.py").write_text("open('executed', 'w').close()\n")
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(f"{name}/libops.so.2,,\n{name}/__init__.py,,\n{info.name}/METADATA,,\n")


def test_a_package_is_read_without_being_imported(tmp_path: Path) -> None:
    installed(tmp_path / "site")
    done = run("--installed", "tensorflow", "--format", "json", cwd=tmp_path, path=str(tmp_path / "site"))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    validate(report, "kernels")
    assert report["build"] == "tensorflow 2.21.0"
    site = next(one for one in report["sites"] if one["class"] == "float-accumulate")
    assert (site["path"], site["form"], site["verdict"]) == ("tensorflow/libops.so.2/1.sm_90.ptx", "ptx", "conditional")
    assert site["ops"] == ["CropAndResizeGradImage"]
    assert site["guard"] == {"level": "throws", "where": None}  # what rules/ops/ says of TensorFlow 2.21
    (op,) = report["ops"]
    assert (op["python"], op["direction"]) == (["tf.image.crop_and_resize"], "backward")
    assert not (tmp_path / "executed").exists()


def test_the_interpreter_that_is_named_is_asked_for_its_packages(tmp_path: Path) -> None:
    installed(tmp_path / "site")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path / "site"} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    done = run("--installed", "tensorflow", "--python", str(python), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tensorflow 2.21.0: 1 kernel of 1 op may vary (candidates: a binary is no proof)" in done.stdout


def test_a_wheel_a_folder_and_a_library(tmp_path: Path) -> None:
    installed(tmp_path / "site")
    with zipfile.ZipFile(tmp_path / "tensorflow-2.21.0-cp312-cp312-linux_x86_64.whl", "w") as wheel:
        wheel.writestr("tensorflow/libops.so.2", LIBRARY)
    words = ["site", "site/tensorflow/libops.so.2", "tensorflow-2.21.0-cp312-cp312-linux_x86_64.whl"]
    for word in words:
        done = run("--installed", word, "--format", "json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(json.loads(done.stdout)["sites"]) == 2
        assert str(tmp_path) not in done.stdout


def test_the_reports_for_people_put_instances_together(tmp_path: Path) -> None:
    double = fatbins.FLOAT.replace("KernelIfE", "KernelIdE")
    text = fatbins.PTX + "\n" + fatbins.PTX.replace(fatbins.FLOAT, double)
    (tmp_path / "a.so").write_bytes(fatbins.library(fatbins.container(fatbins.entry(1, 90, text.encode()))))
    done = run("--installed", "a.so", cwd=tmp_path)
    assert "CropAndResizeBackpropImageKernel` [float-accumulate, ptx, on f32]" in done.stdout
    assert " ".join(done.stdout.split()).count("(2 instructions in 2 kernels)") == 1
    page = run("--installed", "a.so", "--format", "html", cwd=tmp_path)
    assert page.returncode == 0
    assert "candidates: a binary is no proof" in page.stdout


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--installed", "no-such-package"], "no package is called 'no-such-package' in the environment"),
        (["--installed", "no/such.so"], "path not found: no/such.so"),
        (["--installed", "empty"], "nothing to scan: no library in empty"),
        (["--installed", "host.so"], "no GPU code in the libraries of host.so (a build for the CPU?)"),
        (["--installed", "host.so", "."], "name one of them"),
        (["--installed", "host.so", "--write", "ops.yaml"], "--write does not go with --installed"),
        (["--installed", "host.so", "--fail-on", "info"], "--fail-on does not go with --installed"),
        (["--installed", "host.so", "--format", "sarif"], "choose --format text, json, html"),
        (["--installed", "x", "--python", "no-such-python"], "cannot run no-such-python"),
        (["--installed", "broken.whl"], "broken.whl is no wheel that can be read"),
        (["--python", "python3", "."], "--python says whose packages --installed means"),
        ([], "name a PATH with kernel sources, or --installed NAME"),
    ],
)
def test_errors(tmp_path: Path, words: list[str], text: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "host.so").write_bytes(fatbins.elf({".text": b"\x90"}))
    (tmp_path / "broken.whl").write_bytes(b"no zip")
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert text in " ".join(done.stderr.split())


def test_a_damaged_library_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    installed(tmp_path / "site")
    (tmp_path / "site" / "cut.so").write_bytes(LIBRARY[:-100])
    done = run("--installed", "site", "--format", "json", cwd=tmp_path)
    assert done.returncode == 3
    report = json.loads(done.stdout)
    assert len(report["sites"]) == 2
    assert [one["path"] for one in report["unchecked"]] == ["site/cut.so"]


def test_without_the_extra_it_is_said_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "a.so").write_bytes(LIBRARY)
    (tmp_path / "lz4").mkdir()
    (tmp_path / "lz4" / "__init__.py").write_text("raise ImportError\n")
    done = run("--installed", "a.so", cwd=tmp_path, path=str(tmp_path))
    assert done.returncode == 3
    assert "GPU code compressed by LZ4: install `d9mlint[installed]` to read it" in " ".join(done.stdout.split())
    assert "no kernel could be read: GPU code compressed by LZ4: install `d9mlint[installed]`" in done.stdout
    assert "0 kernels" not in done.stdout


def test_a_module_of_the_linted_folder_is_not_imported(tmp_path: Path) -> None:
    """``python -m`` looks for modules in the working directory first; a project may have a ``json.py``."""
    for name in ("pathlib", "click", "yaml", "json", "libcst"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')\n")
    command = [sys.executable, "-m", "d9mlint", "check", "json.py"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
