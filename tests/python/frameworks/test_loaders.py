"""Data loaders in the story: when what they run happens, where, and under which conditions."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from d9mlint.catalogue import load
from d9mlint.model import CONFIGS, KERNELS, Target
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.events import Event, Story
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.frameworks.torch import loading
from d9mlint.python.frameworks.torch.loaders import LOADER, PERHAPS_WORKER, WORKER
from d9mlint.python.judging.judge import interpret, judge
from d9mlint.python.project.files import Project

CATALOGUE = load(cache=False, full=True)
DATA = """
import os
import random
import numpy as np
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, random_split


class Data(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return random.random()

"""


def target(*requirements: str) -> Target:
    return newest_target(requirements, "gpu")


def told(body: str, *requirements: str) -> Story:
    source = (DATA + textwrap.dedent(body)).encode()
    its = target(*requirements)
    knowledge = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, its, CATALOGUE.ops)
    return interpret(Project({"train.py": source}.get), "train.py", ("",), knowledge, its)


def findings(body: str, *requirements: str) -> list[tuple[str, tuple[str, ...]]]:
    source = (DATA + textwrap.dedent(body)).encode()
    its = target(*requirements)
    knowledge = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, its, CATALOGUE.ops)
    rules = [r for r in CATALOGUE.rules.values() if r.family not in (KERNELS, CONFIGS)]
    judged = judge(Project({"train.py": source}.get), "train.py", ("",), rules, knowledge, its)
    assert judged.unchecked == ()
    return [(x.rule, x.when) for x in judged.findings if x.confidence != "low"]


def draws(story: Story) -> list[Event]:
    return [e for e in story.calls("random.random") if not e.detached]


def test_a_dataset_is_read_where_its_loader_is_gone_through() -> None:
    story = told("loader = DataLoader(Data())\ntorch.manual_seed(1)\nfor x in loader:\n    pass\n")
    (draw,) = draws(story)
    (seed,) = story.calls("torch.manual_seed")
    assert draw.index > seed.index
    assert draw.certain
    assert loading.context(draw) == LOADER
    assert draw.loader is not None
    assert draw.loader.name == "torch.utils.data.DataLoader"


@pytest.mark.parametrize(
    "loop",
    [
        "for x in loader:\n    pass",
        "for i, x in enumerate(loader):\n    pass",
        "for x in tqdm(loader):\n    pass",
        "for x in itertools.islice(itertools.cycle(loader), 9):\n    pass",
        "batch = next(iter(loader))",
        "rows = [x for x in loader]",
        "for a, b in zip(loader, range(8)):\n    pass",
        "rows = list(loader)",
    ],
)
def test_ways_to_go_through_a_loader(loop: str) -> None:
    story = told(f"import itertools\nfrom tqdm import tqdm\nloader = DataLoader(Data())\n{loop}\n")
    assert [e.certain for e in draws(story)] == [True]


@pytest.mark.parametrize(
    "data",
    [
        "Subset(Data(), [1, 2])",
        "ConcatDataset([Data(), [1, 2]])",
        "random_split(Data(), [6, 2])[0]",
        "Subset(ConcatDataset([Data()]), [1])",
    ],
)
def test_wrapped_datasets(data: str) -> None:
    story = told(f"for x in DataLoader({data}, num_workers=2):\n    pass\n")
    assert [loading.context(e) for e in draws(story)] == [WORKER]


@pytest.mark.parametrize(
    ("workers", "contexts"),
    [
        ("0", [LOADER]),
        ("None", [LOADER]),
        ("2", [WORKER]),
        ("os.cpu_count()", [PERHAPS_WORKER]),
        ("args.workers", [LOADER, WORKER]),
    ],
)
def test_where_a_dataset_is_read(workers: str, contexts: list[str]) -> None:
    story = told(
        f"""
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--workers", type=int, default=2)
        args = parser.parse_args()
        for x in DataLoader(Data(), num_workers={workers}):
            pass
        """
    )
    assert [loading.context(e) for e in draws(story)] == contexts


def test_a_loader_that_something_else_goes_through_is_told_at_the_end() -> None:
    story = told("trainer = make_trainer()\ntrainer.fit(DataLoader(Data()))\ntorch.manual_seed(1)\n")
    (draw,) = draws(story)
    assert draw.deferred
    assert loading.context(draw) == LOADER


def test_a_dataset_without_a_loader_is_read_some_time() -> None:
    story = told("trainer = make_trainer()\ntrainer.fit(Data())\n")
    (draw,) = draws(story)
    assert draw.deferred
    assert loading.context(draw) == ""


def test_a_loader_class_of_the_program() -> None:
    story = told(
        """
        class Loader(DataLoader):
            def __init__(self, data):
                super().__init__(data, num_workers=3)

        for x in Loader(Data()):
            pass
        """
    )
    assert [loading.context(e) for e in draws(story)] == [WORKER]


def test_an_iterator_of_the_program_around_a_loader() -> None:
    story = told(
        """
        class Prefetcher:
            def __init__(self, loader):
                self.loader = loader

            def __iter__(self):
                for batch in self.loader:
                    yield batch

        for x in Prefetcher(DataLoader(Data())):
            pass
        """
    )
    assert [e.certain for e in draws(story)] == [True]


def test_a_list_that_holds_itself_ends() -> None:
    told("parts = [Data()]\nparts.append(parts)\nfor x in DataLoader(ConcatDataset(parts)):\n    pass\n")


@pytest.mark.parametrize(
    ("seed", "init", "version", "rules"),
    [
        ("np.random.seed(1)", "None", "2.4.0", ["unseeded-workers"]),
        ("torch.manual_seed(1)", "None", "2.4.0", []),
        ("np.random.seed(1)", "lambda i: random.seed(i)", "2.4.0", ["repeated-worker-draws"]),
        ("np.random.seed(1)", "lambda i: random.seed(torch.initial_seed())", "2.4.0", ["unseeded-workers"]),
        ("np.random.seed(1)", "load_function()", "2.4.0", []),
        ("random.seed(1)", "None", "1.6.0", ["unseeded-workers"]),
    ],
)
def test_seeds_of_workers(seed: str, init: str, version: str, rules: list[str]) -> None:
    body = f"{seed}\nfor x in DataLoader(Data(), num_workers=2, worker_init_fn={init}):\n    pass\n"
    assert [rule for rule, _ in findings(body, f"torch=={version}")] == rules


def test_conditions_on_the_number_of_workers() -> None:
    body = """
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(1)
    for x in DataLoader(Data(), num_workers=args.workers):
        pass
    """
    assert findings(body) == [("partial-seed", ("--workers <= 0",))]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("num_workers=1, persistent_workers=True", []),
        ("num_workers=2, persistent_workers=True", [()]),
        ("num_workers=args.workers, persistent_workers=True", [("--workers > 1",)]),
        ("num_workers=1", [()]),
        ("num_workers=args.workers", [("--workers > 0",)]),
    ],
)
def test_copies_of_a_generator_matter_in_several_workers_or_epochs(options: str, expected: list[tuple[str]]) -> None:
    body = f"""
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args()

    class Noisy(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(1)

        def __getitem__(self, index):
            return self.rng.normal()

    for x in DataLoader(Noisy(), {options}):
        pass
    """
    assert [when for rule, when in findings(body, "torch==2.4.0") if rule == "copied-generator"] == expected


@pytest.mark.parametrize(
    ("seeds", "rng", "version", "severity"),
    [
        ("np.random.seed(1)", "np.random", "1.6.0", "info"),
        ("", "np.random", "1.6.0", "info"),
        ("", "np.random.default_rng(1)", "2.4.0", "info"),
        ("", "np.random.default_rng()", "2.4.0", "warning"),
    ],
)
def test_numbers_that_repeat_in_each_run_alike_are_no_warning(
    d9mlint: Callable[..., Any], seeds: str, rng: str, version: str, severity: str
) -> None:
    text = f"""import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self):
        self.rng = {rng}

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.ones(3) * {"np.random.rand()" if rng == "np.random" else "self.rng.random()"}


torch.manual_seed(1)
{seeds}
for x in DataLoader(Noisy(), num_workers=2):
    print(x)
"""
    Path("train.py").write_text(text)
    rules = "repeated-worker-draws,copied-generator"
    told = d9mlint("train.py", "--format", "json", "--select", rules, "--target", f"torch=={version}").json
    assert [one["severity"] for one in told["findings"]] == [severity]


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        ("", "gives the same numbers in each worker and in each epoch"),
        ("x * np.random.rand()", "gives the same numbers in each worker"),
    ],
)
def test_numbers_that_repeat_are_told_with_their_condition_and_how_far(
    d9mlint: Callable[..., Any], drawn: str, words: str
) -> None:
    text = f"""import argparse
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Sampled(Dataset):
    def __init__(self, sampled):
        self.sampled = sampled

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand() if self.sampled else index


parser = argparse.ArgumentParser()
parser.add_argument("--sample", action="store_true")
args = parser.parse_args()
torch.manual_seed(1)
np.random.rand()
loader = DataLoader(Sampled(args.sample), num_workers=2)
for epoch in range(9):
    for x in loader:
        {drawn or "print(x)"}
"""
    Path("train.py").write_text(text)
    options = ("--format", "json", "--select", "repeated-worker-draws", "--target", "torch==1.6.0")
    (found,) = d9mlint("train.py", *options).json["findings"]
    assert found["message"].endswith(words)
    assert found["when"] == ["--sample is given"]
