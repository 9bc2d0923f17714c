"""The catalogue in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from d9mlint.catalogue import Catalogue
from d9mlint.catalogue.render.explain import explain, rules_table
from d9mlint.model import Op, OpStatus, Package, Remedy, Rule, Target, UsageError

EXAMPLES = """\
examples:
  - bad: |
      x = rand()  # <-
    fixed: |
      x = rand(seed=1)
    target: torch==2.0
    device: cpu
    args: [--seed, 1]
  - missed:
      a.py: |
        import b
      conf.yaml: |
        a: 1
  - false-alarm: "y = 1"
    args: []
"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    (tmp_path / "unseeded-thing.yaml").write_text(EXAMPLES)
    rule = Rule(
        name="unseeded-thing",
        id="D9M101",
        family="seeds",
        severity="warning",
        confidence="high",
        hazard="unseeded-rng",
        noise="algo",
        summary="A thing | draws without a seed",
        why="Because.\n\nReally.",
        message="m",
        framework="torch",
        versions="<3",
        device="gpu",
        remedies=(Remedy("New.", ">=2.0"), Remedy("Old.", "<1.5"), Remedy("Theirs.", "", "jax")),
        sources=("https://a", "b"),
        path=str(tmp_path / "unseeded-thing.yaml"),
    )
    ops = (
        Op(
            name="tf.image.crop_and_resize",
            calls=("tensorflow.image.crop_and_resize",),
            direction="both",
            devices=("gpu", "cpu"),
            when={
                "method": ["bilinear", "absent"],
                "a@1": {"not": None},
                "b": {"gt": 1},
                "c": {"contains": "x"},
                "d": "present",
            },
            common=True,
            status=(OpStatus("<2.13", "varies", "raises", "Use another."), OpStatus("==2.13.*", "same", "same")),
            sources=("somewhere",),
            why="Float atomics.",
        ),
        Op("keras.X", ("keras.layers.X",), "forward", ("gpu",)),
    )
    return Catalogue(
        {"unseeded-thing": rule}, (), ops, {"tensorflow.keras": "keras"}, {"unseeded-rng": "no seed at all"}
    )


def target(version: str, package: str = "torch", device: str = "gpu") -> Target:
    return Target({package: Package(version, "asked for")}, device)


PAGE = """\
# unseeded-thing (D9M101)

A thing | draws without a seed

- severity: warning
- confidence: high
- noise: algo
- hazard: unseeded-rng (no seed at all)
- applies to: torch <3 on gpu

## What goes wrong

Because.

Really.

## What to do

torch >=2.0: New.

torch <1.5: Old.

jax: Theirs.

## Example

(torch==2.0, device cpu, arguments `--seed 1`)

```python
x = rand()  # <-
```

Use instead:

(torch==2.0, device cpu, arguments `--seed 1`)

```python
x = rand(seed=1)
```

## Known gaps

Not found although it should be:

`a.py`
```python
import b
```

`conf.yaml`
```yaml
a: 1
```

Reported although it is fine:

(no arguments)

```python
y = 1
```

## How to silence it

`# d9m: ignore[unseeded-thing] the reason`

## Sources

- https://a
- b
"""


def test_explain_rule(catalogue: Catalogue) -> None:
    assert explain("unseeded-thing", catalogue) == PAGE == explain("D9M101", catalogue)


@pytest.mark.parametrize(
    ("to", "text"),
    [
        (target("2.1"), "## What to do\n\nNew.\n\n"),
        (target("1.4"), "## What to do\n\nOld.\n\n"),
        (target("1.8"), "No remedy is known for torch 1.8."),
        (target("3.1"), "The rule is not about torch 3.1 on gpu."),
        (target("2.1", device="cpu"), "The rule is not about torch 2.1 on cpu."),
        (target("2.1", "numpy"), "The rule is not about this target on gpu."),
    ],
)
def test_explain_rule_for_a_target(catalogue: Catalogue, to: Target, text: str) -> None:
    assert text in explain("unseeded-thing", catalogue, to)


OP = """\
# tf.image.crop_and_resize (op)

Float atomics.

- framework: tensorflow
- direction: forward and backward
- device: gpu, cpu
- called as: `tensorflow.image.crop_and_resize`
- when: `method` is `bilinear` or absent
- when: `a@1` is not `None`
- when: `b` is greater than 1
- when: `c` contains `x`
- when: `d` is present
- reported through the missing switch for determinism, not on its own

## Status by version

| versions | by default | in deterministic mode |
| --- | --- | --- |
| <2.13 | may differ from run to run | raises an error |
| ==2.13.* | the same in every run | the same in every run |

## What to do

- <2.13: Use another.

## Sources

- somewhere
"""


def test_explain_op(catalogue: Catalogue) -> None:
    assert explain("tf.image.crop_and_resize", catalogue) == OP
    assert explain("tensorflow.image.crop_and_resize", catalogue) == OP
    assert explain("tf.keras.layers.X", catalogue).startswith("# keras.X (op)")


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("2.4", "in deterministic mode: raises an error.\n\n## What to do\n\nUse another."),
        ("2.13.1", "With tensorflow 2.13.1 (==2.13.*) the result is: the same in every run;"),
        ("2.14", "With tensorflow 2.14 the op is not known to be affected."),
    ],
)
def test_explain_op_for_a_target(catalogue: Catalogue, version: str, text: str) -> None:
    assert text in explain("tf.image.crop_and_resize", catalogue, target(version, "tensorflow"))


def test_explain_op_for_an_unknown_version(catalogue: Catalogue) -> None:
    assert "version of tensorflow is unknown" in explain("tf.image.crop_and_resize", catalogue, target("1"))


def test_unknown_names(catalogue: Catalogue) -> None:
    with pytest.raises(UsageError, match=r"^no rule or op is named `unseeded-thin`; did you mean `unseeded-thing`\?$"):
        explain("unseeded-thin", catalogue)
    with pytest.raises(UsageError, match=r"^no rule or op is named `qqq`$"):
        explain("qqq", catalogue)


def test_rules_table(catalogue: Catalogue) -> None:
    assert rules_table(catalogue) == (
        "name            id      severity  confidence  noise  summary\n"
        "unseeded-thing  D9M101  warning   high        algo   A thing | draws without a seed\n"
    )
    assert rules_table(catalogue._replace(rules={})) == "no rules\n"


def test_a_remedy_for_another_framework_is_for_programs_that_use_it_and_not_the_rules_own(catalogue: Catalogue) -> None:
    rule = catalogue.rules["unseeded-thing"]
    target = Target({"torch": Package("2.1.0", "")})
    assert rule.remedy(target) == rule.remedy(target, ("torch", "jax")) == "New."
    assert rule.remedy(target, ("jax",)) == "Theirs."
    assert rule.remedy(target, ("tensorflow",)) == "New."


def test_a_remedy_that_needs_a_newer_package_than_the_target_has_is_passed_over(catalogue: Catalogue) -> None:
    remedies = (Remedy("New.", needs="numpy>=1.17"), Remedy("Old."))
    rule = catalogue.rules["unseeded-thing"]._replace(remedies=remedies)
    assert rule.remedy(target("1.16.6", "numpy")) == "Old."
    assert rule.remedy(target("1.17.0", "numpy")) == rule.remedy(target("2.1")) == "New."
    assert "numpy >=1.17: New.\n\nOld." in explain("unseeded-thing", catalogue._replace(rules={rule.name: rule}))
