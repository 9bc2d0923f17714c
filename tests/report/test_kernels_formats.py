"""Every format of the report about kernel sources, from one report that holds every case."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from conftest import validate
from kernels_sample import sample, site

from d9mlint.model import Guard, KernelOp, KernelReport, KernelScan, Location, Report, Step, UsageError
from d9mlint.report.kernels import FORMATS, render
from d9mlint.report.kernels.advice import advice
from d9mlint.report.kernels.words import headline

EMPTY = KernelReport(KernelScan(3, (), ()), Report((), {}))


@pytest.mark.parametrize("format_", FORMATS)
def test_the_same_report_gives_the_same_bytes(format_: str) -> None:
    assert render(sample(), format_) == render(sample(), format_)
    assert render(EMPTY, format_) == render(EMPTY, format_)


def test_an_unknown_format_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="unknown format 'xml'"):
        render(EMPTY, "xml")


def test_json_is_what_the_schema_says() -> None:
    for report in (sample(), EMPTY):
        validate(json.loads(render(report, "json")), "kernels")


def test_json_holds_every_site_op_and_call() -> None:
    found = json.loads(render(sample(), "json"))
    assert [(s["path"], s["line"], s["verdict"], s["silenced"]) for s in found["sites"]] == [
        ("csrc/<evil>.cu", 2, "unknown", True),
        ("csrc/guarded.cu", 9, "conditional", False),
        ("csrc/scatter.cu", 2, "no", False),
        ("csrc/scatter.cu", 4, "yes", False),
    ]
    assert found["sites"][1]["guard"] == {"level": "throws", "where": "csrc/guard.cpp:7"}
    assert found["ops"][1]["chain"][0] == {"where": "csrc/scatter.cu:2", "text": "kernel `scatter_kernel`"}
    assert found["ops"][0]["gradient_of"] == ["Foo"]
    assert found["library_calls"][0]["name"] == "InclusiveSum"
    assert found["unchecked"][0]["path"] == "csrc/broken.cu"


def test_the_headline_counts_what_is_unguarded_and_not_silenced() -> None:
    assert headline(sample()) == "1 unguarded site that can vary in 1 op"
    report = sample()
    silenced = report._replace(silenced=frozenset(s.location for s in report.scan.sites))
    assert headline(silenced) == "no unguarded site that can vary"


def test_text_shows_what_matters_and_counts_the_rest() -> None:
    text = render(sample(), "text")
    assert "op:     foo._C.scatter (torch, forward)" in text
    assert "op foo._C.scatter (torch, forward)" in render(sample(), "text", everything=True)
    assert "csrc/scatter.cu:4:13: can vary: `atomicAdd` in `scatter_kernel`" in text
    assert "csrc/scatter.cu:2:13" not in text
    assert "1 that cannot vary" in text
    assert "refuses to run in deterministic mode (csrc/guard.cpp:7)" in text
    assert "unused-suppression" in text
    assert "csrc/broken.cu: not a text file" in text
    assert "csrc/scatter.cu:2:13: cannot vary" in render(sample(), "text", everything=True)


def test_colours_change_nothing_else() -> None:
    painted = render(sample(), "text", color=True)
    assert painted != render(sample(), "text")
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == render(sample(), "text")


def test_sarif_and_github_hold_the_findings() -> None:
    sarif = json.loads(render(sample(), "sarif"))
    results = sarif["runs"][0]["results"]
    assert [r["ruleId"] for r in results] == ["D9M902", "D9M701"]
    assert sarif["runs"][0]["invocations"][0]["executionSuccessful"] is False
    assert "::warning file=csrc/scatter.cu,line=4" in render(sample(), "github")


class Page(HTMLParser):
    """The tags of a page, with what could run or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.risky: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name.startswith("on") or (name in ("src", "href") and not (value or "").startswith("#")):
                self.risky.append(f"{tag} {name}={value}")
            if name == "id":
                self.ids.add(value or "")
            if name == "href":
                self.links.add((value or "").removeprefix("#"))


def test_the_page_is_self_contained_and_escapes_everything() -> None:
    text = render(sample(), "html")
    page = Page()
    page.feed(text)
    assert page.risky == []
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert "http" not in text.replace("http-equiv", "")
    assert "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;" in text
    assert "T = &lt;script&gt;" in text
    assert page.links <= page.ids


def test_the_page_holds_sites_calls_ops_chains_and_excerpts() -> None:
    text = render(sample(), "html")
    assert text.count('class="row') == 5
    assert 'class="row silenced"' in text
    assert "csrc/guard.cpp:7" in text
    assert "not a text file" in text
    assert re.search(r'class="here"><i>4</i> +if \(i &lt; n\)', text)
    assert "No sites" not in render(EMPTY, "html")


def test_kernels_are_told_the_most_exposed_first_in_few_lines_each() -> None:
    text = render(sample(), "text")
    blocks = text.split("\n\n")
    assert [block.partition(":")[0] for block in blocks[:4]] == [
        "csrc/scatter.cu", "csrc/scan.cu", "csrc/guarded.cu", "csrc/<evil>.cu",
    ]  # fmt: skip
    assert max(block.count("\n") + 1 for block in blocks) <= 15


def test_sites_of_one_kernel_are_told_together() -> None:
    report = sample()
    corners = tuple(site("csrc/scatter.cu", line, "yes", ops=("foo._C.scatter",)) for line in range(10, 30))
    scan = report.scan._replace(sites=(*report.scan.sites[:1], *corners, *report.scan.sites[1:]))
    text = render(report._replace(scan=scan), "text")
    assert "also:   20 `atomicAdd` at 10, 11, 12, 13, 14, 15, 16, 17 and 12 more (can vary)" in text
    assert text.count("can vary: `atomicAdd` in `scatter_kernel`") == 1


LAUNCHED = (Step(Location("csrc/launch.cu", 30, 1, 30, 9), "launched in `run`"),)


@pytest.mark.parametrize(
    "op, given, line, told",
    [
        ({}, {}, "atomicAdd(out + index[i], x);",
         'at::globalContext().alertNotDeterministic("foo.bar");'),
        ({}, {}, "atomicAdd(out + index[i], x);", "before launch.cu:30"),
        ({}, {}, "atomicAdd(out + index[i], x);", "  return out.index_add_(0, cell, x);"),
        ({}, {}, "atomicAdd(out + index[i], x);", "llrint(x * 0x1p32)"),
        ({}, {}, "atomicAdd(&out[0], x);", "  partial[blockIdx.x] = sum;"),
        ({}, {}, "atomicAdd(out, x);", "  out = partial.sum();"),
        ({"framework": "tensorflow"}, {}, "GpuAtomicAdd(out + i, x);", "  cub::DeviceSegmentedReduce::Sum(tmp, bytes, xs"),
        ({"framework": "tensorflow"}, {}, "GpuAtomicAdd(out, x);", "  cub::DeviceReduce::Sum(tmp, bytes, partial, out"),
        ({}, {"memory": "shared"}, "atomicAdd(hist + bin, x);", "each block writes its histogram"),
        ({}, {"class_": "order-dependent", "return_use": "index"}, "at = atomicAdd(n, 1);",
         "  cub::DeviceScan::ExclusiveSum("),
        ({}, {"class_": "order-dependent", "intrinsic": "atomicExch"}, "atomicExch(out, x);",
         "  atomicMax(&owner[cell], i);"),
        ({}, {"class_": "order-dependent", "reason": "takes a lock"}, "atomicCAS(p, 0, 1);", "blocks take the lock"),
        ({"framework": "tensorflow"}, {}, "atomicAdd(out + i, x);", "OP_REQUIRES(context, !OpDeterminismRequired()"),
        ({"chain": (Step(Location("k.py", 3, 1, 3, 9), "launched in `f`"),)}, {}, "tl.atomic_add(p, x)",
         "if torch.are_deterministic_algorithms_enabled(): raise RuntimeError"),
    ],
)  # fmt: skip
def test_what_to_do(op: dict[str, Any], given: dict[str, Any], line: str, told: str) -> None:
    met = KernelOp(
        **{"name": "foo.bar", "framework": "torch", "python": (), "direction": "forward", "chain": LAUNCHED, **op}
    )
    assert told in advice(site("csrc/a.cu", 4, "yes", **given), line, met)


@pytest.mark.parametrize(
    ("atomic", "told"),
    [
        ("tl.atomic_add", "(x * 2**32).to(tl.int64)"), ("cuda.atomic.add", "cuda.atomic.add(sums, cell, int64("),
        ("atomicAdd", "  atomicAdd(&sums[cell], (unsigned long long)"),
    ],
)  # fmt: skip
def test_the_lines_are_of_the_language_of_the_kernel(atomic: str, told: str) -> None:
    text = advice(site("k.py", 4, "yes", atomic=atomic), f"{atomic}(out, i, x)".replace("out, i", "out + i"), None)
    assert told in text
    assert "cub::" not in text


def test_no_lines_are_told_for_a_language_that_none_are_known_of() -> None:
    text = advice(site("k.py", 4, "yes", atomic="wp.atomic_add"), "wp.atomic_add(out, i, x)", None)
    assert text.startswith("To make it repeat: ")
    assert "\n" not in text


def test_a_kernel_in_python_refuses_only_where_pytorch_is_imported() -> None:
    step = Step(Location("k.py", 9, 1, 9, 9), "Python `run`")
    met = KernelOp(name="k.run", framework="", python=("k.run",), direction="forward", chain=(step,))
    told = {
        package: advice(site("k.py", 4, "yes"), "atomicAdd(p + i, x);", met, {"k.py": f"import {package}\n"})
        for package in ("torch", "cupy")
    }
    assert "raise RuntimeError" in told["torch"]
    assert "torch" not in told["cupy"]


def test_what_is_to_be_written_is_never_cut_off() -> None:
    report = sample()
    chain = (Step(Location("csrc/scatter.cu", 9, 1, 9, 9), f"launched in `{'run' * 30}`"), *LAUNCHED * 3)
    (first, *others) = report.scan.ops
    op = first._replace(chain=chain, python=tuple(f"foo.bar{n}" for n in range(30)), framework="tensorflow")
    sites = tuple(
        one._replace(reason="one cell, several threads, " * 20, ops=(op.name,)) for one in report.scan.sites[:1]
    )
    also = tuple(site("csrc/scatter.cu", line, "yes", ops=(op.name,)) for line in range(10, 30))
    scan = report.scan._replace(sites=(*sites, *also), ops=(op, *others))
    block = render(report._replace(scan=scan), "text").split("\n\n")[0]
    assert block.count("\n") + 1 == 15
    assert block.endswith("// or integers")


@pytest.mark.parametrize("given", [{"verdict": "no"}, {"verdict": "unknown"}, {"guard": Guard("throws")}])
def test_nothing_to_do(given: dict[str, Any]) -> None:
    assert advice(site("csrc/a.cu", 4, **{"verdict": "yes", **given}), "atomicAdd(p, x);", None) == ""
