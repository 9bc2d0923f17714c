"""Cures where a finding stands, by the words of a rule's ``cure``."""

from __future__ import annotations

from typing import Any

import pytest

from d9mlint.fix import edited
from d9mlint.fix.place import Need, Place
from d9mlint.fix.places import edits, moved
from d9mlint.model import Edit, Finding, Location


def made(cure: dict[str, Any], at: Location, source: bytes, remedy: str = "", message: str = "m") -> list[Edit]:
    found = Finding("r", "D9M999", "h", "algo", "error", "high", message, at, remedy)
    return [one for one in edits(cure, Place(found, at, {"a.py": source})) if isinstance(one, Edit)]


def cured(text: str, cure: dict[str, Any], *, remedy: str = "", before: str = "import x\n") -> str | None:
    """The line ``text`` after the cure at what stands between ``«`` and ``»``."""
    start, end = text.index("«"), text.index("»") - 1
    line = text.replace("«", "").replace("»", "")
    source = f"{before}{line}\n".encode()
    number = before.count("\n") + 1
    found = made(cure, Location("a.py", number, start + 1, number, end + 1), source, remedy)
    done = edited(source, found) if found else None
    return None if done is None else done.decode().removeprefix(before).rstrip("\n")


@pytest.mark.parametrize(
    ("cure", "text", "wanted"),
    [
        ({"sorted": True}, "for name in «os.listdir(d)»:\n    pass", "for name in sorted(os.listdir(d)):\n    pass"),
        ({"sorted": True}, "one = next(«d.glob('*')»)", "one = next(iter(sorted(d.glob('*'))))"),
        ({"sorted": True}, "names = «list(set(names))»", "names = sorted(set(names))"),
        ({"sorted": True}, "ids = {n: i for i, n in «enumerate(names)»}", "ids = {n: i for i, n in enumerate(sorted(names))}"),
        ({"sorted": True}, "for top, dirs, files in «os.walk(d)»:\n    pass",
         "for top, dirs, files in os.walk(d):\n    dirs.sort()\n    files.sort()\n    pass"),
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
        ("`A.Compose([...], seed=1)`", "«A.Compose(\n    [x],\n)»", "A.Compose(\n    [x],\n    seed=1,\n)"),
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
        found = made({"remedy": True}, Location("a.py", 2, 1, 4, 2), source, remedy)
        done = edited(source, found)
        assert done is not None
        assert done.decode() == f"import x\n{wanted}\n"
        return
    assert cured(text, {"remedy": True}, remedy=remedy) == wanted


@pytest.mark.parametrize(
    ("cure", "remedy", "text", "wanted"),
    [
        ({"remedy": True}, "`workers=1, multi=False`", "«fit(x, workers=4)»", "fit(x, workers=1, multi=False)"),
        ({"remedy": True}, "`Session(config=Proto(a=1))`", "«Proto(a=8)»", "Proto(a=1)"),
        ({"remedy": True}, "`reset(seed=1)` does not do it", "«env.action_space.sample()»", None),
        ({"remedy": True}, "`shuffle(n, seed=1, again=False)`", "«shuffle(n, seed=SEED)»", "shuffle(n, seed=SEED, again=False)"),
        ({"remedy": True}, "`seed=1`", "«Study(seed=None)»", "Study(seed=1)"),
        ({"remedy": True}, "`seed=1`", "«Study(*parts)»", None),
        ({"rewrite": True}, "`-tf.sum(y * z)` instead of `xent(y, z)`", "l = «tf.xent(a + b, c)»", "l = -tf.sum((a + b) * c)"),
        ({"rewrite": True}, "`-tf.f(labels, logits)`", "g(2 * «xent(labels=a, logits=b, name='x')»)", "g(2 * (-tf.f(a, b)))"),
        ({"rewrite": True}, "`tf.f(logits, logits)`", "«xent(logits=net(x))»", None),
        ({"rewrite": True}, "`tf.f(logits, logits)`", "«xent(logits=x)»", "tf.f(x, x)"),
        ({"rewrite": True}, "`tf.f(labels)`", "«xent(labels=a, weights=w)»", None),
        ({"rewrite": True}, "`x.cpu().cumsum(dim).to(x.device)` instead of `x.cumsum(dim)`", "«self.w.cumsum(0)»",
         "self.w.cpu().cumsum(0).to(self.w.device)"),
        ({"rewrite": True}, "`x.cpu().cumsum(dim).to(x.device)` instead of `x.cumsum(dim)`", "«x.cumsum(w, 0)»",
         "w.cpu().cumsum(0).to(w.device)"),
        ({"instead": True}, "call `tf.config.experimental.enable_op_determinism()` instead", "«patch()»  # tf",
         "tf.config.experimental.enable_op_determinism()  # tf"),
        ({"instead": True}, "call `torch.f()` instead", "«patch(1)»  # torch", None),
        ({"replace": {"ON_1": "OFF"}}, "", "«jit = Options.ON_1»", "jit = Options.OFF"),
        ({"replace": {"ON_1": "OFF"}}, "", "«jit = Options.ON_12»", None),
        ({"device": True}, "under `tf.device(\"/CPU:0\")`", "y = «tf.gather(x, i)»",
         "with tf.device(\"/CPU:0\"):\n    y = tf.gather(x, i)"),
        ({"device": True}, "under `tf.device(\"/CPU:0\")`", "y = «tf.Layer(x, i)»", None),
        ({"delete": True}, "", "«os.environ['A'] = '1'»  # why", ""),
        ({"rename": {"fresh": "from_seed(1)"}}, "", "«tf.Generator.fresh(alg)»", "tf.Generator.from_seed(1)"),
        ({"sorted": True}, "", "for e in «os.scandir(d)»:\n    pass",
         "for e in sorted(os.scandir(d), key=lambda entry: entry.name):\n    pass"),
        ({"sorted": True}, "", "with «os.scandir(d)» as it:\n    pass", None),
        ({"sorted": True}, "", "for top, _, files in «os.walk(d)»:\n\tpass",
         "for top, dirs, files in os.walk(d):\n\tdirs.sort()\n\tfiles.sort()\n\tpass"),
        ({"sorted": True}, "", "x = [f for top, _, files in «os.walk(d)» for f in files]",
         "x = [f for top, _, files in sorted(os.walk(d)) for f in sorted(files)]"),
        ({"sorted": True}, "", "for top, _, _ in «os.walk(d)»: pass", None),
    ],
)  # fmt: skip
def test_each_way_that_a_remedy_tells(cure: dict[str, Any], remedy: str, text: str, wanted: str | None) -> None:
    assert cured(text, cure, remedy=remedy) == wanted


def test_the_name_that_is_meant() -> None:
    text = b"import torch\ntorch.backends.cudnn.determinstic = True\n"
    message = "nothing reads `torch.backends.cudnn.determinstic`; `torch.backends.cudnn.deterministic` is meant"
    done = edited(text, made({"spelling": True}, Location("a.py", 2, 1, 2, 42), text, message=message))
    assert done == text.replace(b"determinstic", b"deterministic")


def test_a_key_of_the_dictionary_that_a_call_unpacks() -> None:
    text = b"P = {'a': 1, 'task': 'GPU'}\nmodel = Boost(**P)\n"
    at = Location("a.py", 2, 9, 2, 19)
    assert edited(text, made({"remedy": True}, at, text, "`task='CPU'`")) == text.replace(b"GPU", b"CPU")
    assert edited(text, made({"remedy": True}, at, text, "`b=2`")) == text.replace(b"**P", b"**P, b=2")
    twice = text + b"P = read()\n"
    assert made({"remedy": True}, at, twice, "`task='CPU'`") == []


WORKER = "`def seed_worker(worker_id): np.random.seed(torch.initial_seed())` and `Loader(..., init=seed_worker)`"


@pytest.mark.parametrize(
    ("before", "call", "name", "defined"),
    [
        ("", "Loader(d)", "seed_worker", "def seed_worker(worker_id):"),
        ("def seed_worker(worker_id):\n    pass\n", "Loader(d)", "seed_worker_2", "def seed_worker_2(worker_id):"),
        ("def own(number):\n    n.random.seed(torch.initial_seed() % 7)\n", "Loader(d)", "own", ""),
        ("def own(number):\n    n.random.seed(1)\n", "Loader(d)", "seed_worker", "def seed_worker(worker_id):"),
    ],
)
def test_a_function_that_the_remedy_defines(before: str, call: str, name: str, defined: str) -> None:
    head = f"import numpy as n\n{before}"
    source = f"{head}{call}\n".encode()
    number = head.count("\n") + 1
    at = Location("a.py", number, 1, number, len(call) + 1)
    found = Finding("r", "D9M999", "h", "algo", "error", "high", "m", at, WORKER)
    got = edits({"remedy": True}, Place(found, at, {"a.py": source}))
    done = edited(source, [one for one in got if isinstance(one, Edit)])
    assert done is not None
    assert done.decode() == f"{head}Loader(d, init={name})\n"
    needs = [one.text for one in got if isinstance(one, Need)]
    assert [one.partition("\n")[0] for one in needs] == ([defined] if defined else [])


def test_a_function_that_is_there_is_not_lost() -> None:
    source = b"Loader(d, init=mine)\n"
    assert made({"remedy": True}, Location("a.py", 1, 1, 1, 21), source, WORKER) == []


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
