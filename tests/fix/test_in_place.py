"""Cures where a finding stands, by the words of a rule's ``cure``."""

from __future__ import annotations

from typing import Any

import pytest

from d9mlint.fix import edited
from d9mlint.fix.places import edits, moved
from d9mlint.model import Location


def cured(text: str, cure: dict[str, Any], *, remedy: str = "", before: str = "import x\n") -> str | None:
    """The line ``text`` after the cure at what stands between ``«`` and ``»``."""
    start, end = text.index("«"), text.index("»") - 1
    line = text.replace("«", "").replace("»", "")
    source = f"{before}{line}\n".encode()
    number = before.count("\n") + 1
    found = edits(cure, remedy, Location("a.py", number, start + 1, number, end + 1), source)
    done = edited(source, found) if found else None
    return None if done is None else done.decode().removeprefix(before).rstrip("\n")


@pytest.mark.parametrize(
    ("cure", "text", "wanted"),
    [
        ({"sorted": True}, "for name in «os.listdir(d)»:\n    pass", "for name in sorted(os.listdir(d)):\n    pass"),
        ({"sorted": True}, "names = «list(set(names))»", "names = sorted(set(names))"),
        ({"sorted": True}, "ids = {n: i for i, n in «enumerate(names)»}", "ids = {n: i for i, n in enumerate(sorted(names))}"),
        ({"sorted": True}, "for top, dirs, files in «os.walk(d)»:\n    pass", None),
        ({"assign": "False"}, "«cudnn.benchmark = True»", "cudnn.benchmark = False"),
        ({"assign": "False"}, "«cudnn.benchmark» = True  # fast", "cudnn.benchmark = False  # fast"),
        ({"assign": '"1"'}, "«os.environ['A'] = 'yes'»", "os.environ['A'] = \"1\""),
        ({"argument": "1"}, "rng = «np.random.default_rng()»", "rng = np.random.default_rng(1)"),
        ({"argument": "1"}, "«random.seed(int(time.time()))»", "random.seed(1)"),
        ({"argument": "1"}, "«random.seed(a, version=2)»", None),
        ({"without": ["in_order"]}, "«DataLoader(d, in_order=False, num_workers=2)»", "DataLoader(d, num_workers=2)"),
        ({"without": ["in_order"]}, "«DataLoader(d, in_order=False)»", "DataLoader(d)"),
        ({"without": ["in_order"]}, "«DataLoader(in_order=False)»", "DataLoader()"),
        ({"without": ["in_order"]}, "«DataLoader(d)»", None),
        ({"rename": {"imap_unordered": "imap"}}, "«pool.imap_unordered(f, x)»", "pool.imap(f, x)"),
        ({"unwrap": "as_completed"}, "for f in «futures.as_completed(jobs)»:\n    pass", "for f in jobs:\n    pass"),
        ({"argument": "1"}, "«name»", None),
    ],
)  # fmt: skip
def test_each_way(cure: dict[str, Any], text: str, wanted: str | None) -> None:
    assert cured(text, cure) == wanted


@pytest.mark.parametrize(
    ("remedy", "text", "wanted"),
    [
        ("`n_jobs=1`", "«study.optimize(f, n_jobs=2)»", "study.optimize(f, n_jobs=1)"),
        ("`n_jobs=1`", "«study.optimize(f)»", "study.optimize(f, n_jobs=1)"),
        ("`A.Compose([...], seed=1)`; with workers, one each", "«A.Compose([x])»", "A.Compose([x], seed=1)"),
        ("`A.Compose([...], seed=1)`", "«A.Compose(\n    [x],\n)»", "A.Compose(\n    [x],\n seed=1)"),
        ("`create_study(sampler=x.TPESampler(seed=1))`", "«x.create_study()»", "x.create_study(sampler=x.TPESampler(seed=1))"),
        ("`create_study(sampler=y.TPESampler(seed=1))`", "«x.create_study()»", None),
        ("`seed=1`", "«f(**options)»", None),
        ("train on the CPU", "«f()»", None),
    ],
)  # fmt: skip
def test_the_keyword_of_the_remedy(remedy: str, text: str, wanted: str | None) -> None:
    if "\n" in text:  # the range ends on another line
        lines = text.replace("«", "").replace("»", "")
        source = f"import x\n{lines}\n".encode()
        found = edits({"remedy": True}, remedy, Location("a.py", 2, 1, 4, 2), source)
        done = edited(source, found)
        assert done is not None
        assert done.decode() == f"import x\n{wanted}\n"
        return
    assert cured(text, {"remedy": True}, remedy=remedy) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("torch.manual_seed(7)", "torch.manual_seed(7)"),
        ("tf.random.set_seed(args.seed)", "tf.random.set_seed(1)"),
        ('os.environ["TF_DETERMINISTIC_OPS"] = "1"', 'os.environ["TF_DETERMINISTIC_OPS"] = "1"'),
        ("seed_all(7)", ""),
        ("self.env.seed(7)", ""),
        ("tensorflow.random.set_seed(7)", ""),
        ('os.environ["TF_DETERMINISTIC_OPS"] = str(flag)', ""),
    ],
)
def test_what_comes_too_late_is_said_earlier(text: str, wanted: str) -> None:
    assert moved({"move": True}, Location("a.py", 1, 1, 1, len(text) + 1), text.encode()) == wanted
    assert moved({}, Location("a.py", 1, 1, 1, len(text) + 1), text.encode()) == ""
