"""What an entry can reach besides what it was seen to call: what the code that it runs mentions."""

from __future__ import annotations

import pytest

from d9mlint.catalogue import load
from d9mlint.model import Finding
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.judging.judge import judge
from d9mlint.python.judging.merging import combine
from d9mlint.python.project.files import Project

CATALOGUE = load(cache=False)
TARGET = newest_target(["torch==2.4.0"], "gpu")
KNOWLEDGE = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, TARGET)
DATA = """
import numpy as np
from torch.utils.data import Dataset

def spectrum(x):
    return x

class Sounds(Dataset):
    def __init__(self, names):
        self.rng = np.random.default_rng()
    def __getitem__(self, index):
        return self.rng.normal()

def loader(names):
    return Sounds(names)
"""


def found(**files: str) -> list[Finding]:
    """What the rule on generators from entropy says, for all files that are not ``data``, together."""
    project = Project({f"{name}.py": text.encode() for name, text in files.items()}.get)
    rules = [CATALOGUE.rules["entropy-seed"]]
    judged = (judge(project, f"{n}.py", ("",), rules, KNOWLEDGE, TARGET) for n in files if n != "data")
    return combine([one for each in judged for one in each.findings])


@pytest.mark.parametrize(
    ("entry", "confidence"),
    [
        ("import data\nprint(data.spectrum(1))", "low"),
        ("from data import *\nprint(spectrum(1))", "low"),
        ("from data import Sounds, spectrum\n__all__ = ['Sounds']\nprint(spectrum(1))", "low"),
        ("import data\nprint(eval('1 + ' + input()))", "low"),
        ("import data, sys\nprint(data.spectrum(1))\nname = unknown(Loader='loader')", "medium"),
        ("import data\nmade = unknown(data.loader)", "high"),
        ("import data\nmade = getattr(data, input())", "medium"),
        ("import data\nmade = data.__dict__[input()]()", "medium"),
        ("import data\nmade = globals()[input()]()", "medium"),
        ("import data\nKINDS = {'sounds': data.Sounds}\nprint(data.spectrum(1))", "low"),
        ("import data\nKINDS = {'sounds': data.Sounds}\nprint(unknown(KINDS))", "medium"),
        ("import data\nKINDS = [data.Sounds, data.loader]\nmade = KINDS[int(input())]([])", "high"),
        ("import data\nKINDS = [data.loader]\nPLANS = {'all': KINDS}\nprint(1)", "low"),
        (
            "import data\nKINDS = [data.loader]\nPLANS = {'all': KINDS}\nfor plan in unknown():\n    print(PLANS[plan])",
            "medium",
        ),
        ("import data\nif unknown():\n    KINDS = {'sounds': data.Sounds}", "medium"),
        ("import data\ndata.loader([])", "high"),
        ("import data\ndef main():\n    return data.loader([])", "medium"),
    ],
)
def test_to_import_a_class_is_not_to_make_its_objects(entry: str, confidence: str) -> None:
    assert [one.confidence for one in found(data=DATA, train=entry)] == [confidence]


def test_a_finding_names_the_entries_that_reach_it() -> None:
    (one,) = found(
        data=DATA, train="import data\ndata.loader([])", export="from data import Sounds, spectrum\nspectrum(1)"
    )
    assert one.entries == ("train.py",)


@pytest.mark.parametrize(("entry", "told"), [("print(evals.score())", 0), ("print(evals.KINDS[input()]())", 1)])
def test_a_module_that_only_a_function_of_an_unused_table_imports_is_not_run(entry: str, told: int) -> None:
    files = {
        "train": f"import evals\n{entry}\n",
        "evals": "def old():\n    import data\n    return data\n\ndef score():\n    return 1\n\nKINDS = {'old': old}\n",
        "data": "import numpy as np\nprint(np.random.default_rng().normal())\n",
    }
    project = Project({f"{name}.py": text.encode() for name, text in files.items()}.get)
    judged = judge(project, "train.py", ("",), [CATALOGUE.rules["entropy-seed"]], KNOWLEDGE, TARGET)
    assert len([one for one in judged.findings if one.confidence != "low"]) == told


@pytest.mark.parametrize(
    ("decorator", "confidence"),
    [("torch.no_grad()", "low"), ("torch.inference_mode()", "low"), ("kinds.add", "medium")],
)
def test_a_decorator_that_only_says_how_a_function_runs_keeps_it_nowhere(decorator: str, confidence: str) -> None:
    text = f"""
import kinds
import numpy as np
import torch

@{decorator}
def noise():
    return np.random.default_rng().normal()

def other():
    return 1
"""
    (one,) = found(data=text, train="import data\nprint(data.other())")
    assert one.confidence == confidence
