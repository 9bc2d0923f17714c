"""Under which conditions findings are told to hold: what decides, once, and nothing that any program needs."""

from __future__ import annotations

import pytest

from d9mlint.catalogue import load
from d9mlint.model import AnyPlace, Finding, Location, Related
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.conditions import Cond, Flag, both, either, flag_test, negate, opaque_test
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.judging.judge import combine, judge
from d9mlint.python.judging.wording import told_of, words_of
from d9mlint.python.project.files import Project

CATALOGUE = load()
FLAGS = """import argparse
import os
import random
import sys

import numpy as np
import torch
import yaml
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--opt", default="a")
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--file")
parser.add_argument("--train", action="store_true")
parser.add_argument("--half", action="store_true")
parser.add_argument("--cuda", action="store_true")
args = parser.parse_args()


def settings():
    return yaml.safe_load(open("config.yaml"))

"""


def found(
    files: str | dict[str, str], *rules: str, entry: str = "train.py", target: str = "torch==2.6"
) -> list[Finding]:
    """What is found in a program, by these rules."""
    texts = (
        {"train.py": f'{FLAGS}{files}\nif __name__ == "__main__":\n    main()\n'} if isinstance(files, str) else files
    )
    at = newest_target([target], "gpu")
    knowledge = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, at, CATALOGUE.ops)
    project = Project({path: text.encode() for path, text in texts.items()}.get)
    told = judge(project, entry, ("",), CATALOGUE.rules.values(), knowledge, at)
    return [f for f in told.findings if f.rule in rules and f.confidence != "low"]


def when(files: str, *rules: str) -> list[tuple[str, ...]]:
    """The conditions of what is found."""
    return [finding.when for finding in found(files, *rules)]


@pytest.mark.parametrize(
    "stop",
    [
        "if args.steps < 1:\n        raise ValueError(args.steps)",
        "if args.steps < 1:\n        print('too few')\n        sys.exit(1)",
        "if args.train:\n        if not args.file:\n            raise ValueError('which?')",
        "assert args.steps > 5",
        "check()",
        "found = check()",
        "check() if args.half else print(1)",
    ],
)
def test_what_stops_the_program_is_no_condition_of_what_follows(stop: str) -> None:
    text = f"""
def check():
    if args.train and not args.file:
        raise ValueError('which?')
    return 1

def main():
    {stop}
    made = [random.random()]
    if args.cuda:
        print(made, np.random.rand())
"""
    assert when(text, "unseeded-python", "unseeded-numpy") == [(), ("--cuda is given",)]


def test_a_factory_that_knows_no_other_names_picks_among_those() -> None:
    text = """
class A:
    def draw(self):
        return random.random()

class B:
    def draw(self):
        return np.random.rand()

def make(name):
    if name == "a":
        return A()
    if name == "b":
        return B()
    raise ValueError(name)

def main():
    made = make(args.opt)
    made.draw()
    print(np.random.default_rng())
"""
    assert when(text, "unseeded-python") == [("--opt is a (the default)",)]
    assert when(text, "unseeded-numpy") == [("--opt is b",)]
    assert when(text, "entropy-seed") == [()]


def test_a_return_is_a_condition_of_what_follows() -> None:
    text = """
def main():
    if not args.train:
        return
    random.random()
"""
    assert when(text, "unseeded-python") == [("--train is given",)]


def test_both_ways_of_a_choice_that_has_no_third_are_no_condition() -> None:
    text = """
def main():
    if args.opt == "a":
        step = 1
    elif args.opt == "b":
        step = 2
    else:
        raise ValueError(args.opt)
    net = torch.nn.Conv1d(2, 2, 2).cuda()
    if args.half:
        net(torch.ones(2)).sum().backward()
    elif args.opt == "a":
        net(torch.ones(2)).sum().backward()
    elif args.opt == "b":
        net(torch.ones(2)).sum().backward()
"""
    assert when(text, "missing-torch-determinism") == [()]


def test_what_an_abstract_method_raises_excludes_nothing() -> None:
    text = """
class Base:
    def draw(self):
        raise NotImplementedError

def main():
    Base().draw()
    random.random()
"""
    assert when(text, "unseeded-python") == [()]


@pytest.mark.parametrize(
    "update",
    [
        "if args.cuda:\n        words.update(num_workers=4, shuffle=True)",
        "if args.cuda:\n        words.update({'num_workers': 4, 'shuffle': True})",
        "more = {'shuffle': True} if args.cuda else {}\n    words.update(more)",
        "if args.cuda:\n        words['shuffle'] = True",
        "words = dict(words, **({'shuffle': True} if args.cuda else {}))",
        "add(words)",
    ],
)
@pytest.mark.parametrize("use", ["DataLoader([1, 2], **words)", "loader([1, 2], **words)"])
def test_an_update_of_arguments_keeps_its_condition(update: str, use: str) -> None:
    text = f"""
def loader(data, batch_size=1, num_workers=0, shuffle=False):
    return DataLoader(data, batch_size, shuffle=shuffle)

def add(words):
    if args.cuda:
        words.update(shuffle=True)

def main():
    words = {{"batch_size": 4}}
    {update}
    for batch in {use}:
        print(batch)
"""
    assert when(text, "unseeded-shuffle") == [("--cuda is given",)]


def test_an_item_of_a_dict_that_is_there_only_sometimes_has_its_default_otherwise() -> None:
    text = """
def main():
    words = {}
    if args.cuda:
        words["noise"] = False
    if words.get("noise", True):
        random.random()
    if "noise" in words:
        np.random.rand()
    if words:
        print(np.random.default_rng())
"""
    assert when(text, "unseeded-python") == [("--cuda is not given",)]
    assert when(text, "unseeded-numpy") == [("--cuda is given",)]
    assert when(text, "entropy-seed") == [("--cuda is given",)]


def test_what_is_put_into_a_list_under_a_condition_is_used_under_it() -> None:
    text = """
class Noise:
    def __init__(self):
        self.rng = np.random.RandomState(1)

    def __call__(self, x):
        return x + random.random()

def main():
    steps = []
    if args.half:
        steps.append(Noise())
    for step in steps:
        print(step(1))
"""
    assert when(text, "unseeded-python") == [("--half is given",)]


@pytest.mark.parametrize(
    "setup",
    [
        "noise = Noise() if args.half else None",
        "noise = make()",
        "noise = None\n    if args.half:\n        noise = Noise()",
        "noise = make_or_stop()",
    ],
)
def test_what_an_object_does_happens_where_it_exists(setup: str) -> None:
    text = f"""
class Noise:
    def __init__(self):
        self.rng = np.random.default_rng()

    def draw(self):
        return self.rng.random() + random.random()

def make():
    if args.half:
        return Noise()

def make_or_stop():
    if not args.half:
        return None
    return Noise()

def main():
    {setup}
    if noise:
        print(noise.draw())
    noise.draw()
    np.random.rand()
"""
    assert when(text, "entropy-seed", "unseeded-python") == [("--half is given",), ("--half is given",)]
    assert when(text, "unseeded-numpy") == [()]


def test_a_dataset_that_is_handed_over_is_read_where_it_exists() -> None:
    text = """
class Data(torch.utils.data.Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(1)

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return self.rng.random() + random.random()

def main():
    torch.manual_seed(1)
    if args.train:
        data = Data()
        unknown_trainer(data)
    data = Data() if args.half else [1, 2]
    for item in DataLoader(data, num_workers=2):
        print(item)
"""
    assert when(text, "copied-generator") == [("--half is given",)]
    assert when(text, "partial-seed") == [("--train is given",)]


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("cfg['aug']['noise']", "`cfg['aug']['noise']` is true"),
        ("cfg.get('noise', False)", "`cfg.get('noise', False)` is true"),
        ("cfg.model.noise", "`cfg.model.noise` is true"),
        ("not cfg.noise", "`cfg.noise` is false"),
        ("cfg['kind'] == 'noise'", "`cfg['kind']` is 'noise'"),
        ("cfg['kind'] != 'noise'", "`cfg['kind']` is not 'noise'"),
        ("cfg.training", None),
        ("len(cfg) == 3", None),
    ],
)
def test_a_setting_that_a_draw_needs_is_told(test: str, told: str | None) -> None:
    text = f"""
def main():
    cfg = settings()
    if {test}:
        random.random()
"""
    assert when(text, "unseeded-python") == [(told,) if told else ()]


def test_a_draw_that_needs_no_setting_is_reported_rather() -> None:
    text = """
def main():
    cfg = settings()
    if cfg["noise"]:
        random.random()
    random.gauss(0, 1)
"""
    (one,) = found(text, "unseeded-python")
    assert one.when == ()
    assert "gauss" in one.message


SHARED = {
    "noise.py": "import random\n\ndef noise():\n    return random.random()\n",
    "train.py": "import random\nfrom noise import noise\nif __name__ == '__main__':\n    random.seed(1)\n    noise()\n",
    "serve.py": "from noise import noise\nif __name__ == '__main__':\n    noise()\n",
}


def test_a_finding_of_some_entries_says_of_which() -> None:
    finding = found(SHARED, "unseeded-python", entry="serve.py")
    assert [f.entries for f in finding] == [("serve.py",)]
    assert combine(finding, {"noise.py": ["serve.py"]})[0].when == ()
    assert combine(finding, {"noise.py": ["serve.py", "train.py"]})[0].when == ("`serve.py` is started",)
    more = [finding[0]._replace(entries=(name,)) for name in ("d.py", "c.py", "a.py")]
    assert combine(more, {"noise.py": ["a.py", "b.py", "c.py", "d.py"]})[0].when == (
        "one of `a.py`, `c.py` and `d.py` is started",
    )
    four = [*more, finding[0]._replace(entries=("b.py",))]
    assert combine(four, {"noise.py": [*"abcde"]})[0].when == ("one of `a.py`, `b.py` and 2 more is started",)
    assert combine(more[:2], {"noise.py": ["a.py", "c.py", "d.py"]})[0].when == ("`c.py` or `d.py` is started",)


def test_the_other_places_of_each_entry_are_kept() -> None:
    (one,) = found(SHARED, "unseeded-python", entry="serve.py")
    at = one.location._replace(path="a.py"), one.location._replace(path="b.py")
    each = [one._replace(entries=(place.path,), related=(Related(place, "begins here"),)) for place in at]
    each.append(each[0]._replace(entries=("c.py",)))
    assert [related.location for related in combine(each)[0].related] == [*at]


def test_conditions_that_only_some_entries_need_are_told_for_them() -> None:
    one = found(SHARED, "unseeded-python", entry="serve.py")[0]
    both = [
        one._replace(entries=("serve.py",), when=("--a is given",)),
        one._replace(entries=("train.py",), when=("--a is given", "--b is given or --c is given", "--d is not given")),
    ]
    assert combine(both)[0].when == (
        "--a is given",
        "if `train.py` is started, --b is given or --c is given and --d is not given",
    )
    most = [one._replace(entries=(name,), when=() if name == "b.py" else ("--a is given",)) for name in ENTRIES]
    assert combine(most)[0].when == ("--a is given unless `b.py` is started",)
    each = [one._replace(entries=(name,), when=(f"--{name[0]} is given",)) for name in ENTRIES]
    assert combine(each)[0].when == (
        "if `a.py` is started, --a is given",
        "if `b.py` is started, --b is given",
        "if `c.py` is started, --c is given",
        "if `d.py` or `e.py` is started, more",
    )


ENTRIES = ("a.py", "b.py", "c.py", "d.py", "e.py")


def test_a_finding_in_the_only_entry_that_has_it_says_so_where_others_import_it() -> None:
    finding = found(SHARED, "unseeded-python", entry="serve.py")[0]._replace(entries=("noise.py",))
    assert combine([finding], {"noise.py": ["noise.py", "train.py"]})[0].when == ("`noise.py` is started",)
    assert combine([finding], {"noise.py": ["noise.py"]})[0].when == ()


def test_what_no_program_imports_says_so_where_there_are_programs() -> None:
    local = found(SHARED, "unseeded-python", entry="serve.py")[0]._replace(entries=())
    assert combine([local])[0].when == ()
    imported = "a program imports `noise.py` (none that was found does)"
    assert combine([local], {"serve.py": ["serve.py"]})[0].when == (imported,)


@pytest.mark.parametrize(
    ("again", "told"),
    [
        ('DEVICE = torch.device("cuda" if args.opt == "gpu" else "cpu")', [("--opt is gpu",)]),
        ('DEVICE = torch.device("cpu")', []),
        ('other = torch.device("cpu")', [()]),
    ],
)
def test_a_device_that_is_assigned_again_says_nothing(again: str, told: list[tuple[str, ...]]) -> None:
    text = f"""{FLAGS}
DEVICE = torch.device("cuda")

def main():
    torch.nn.Conv2d(3, 8, 3).to(DEVICE)(torch.load("x.pt").to(DEVICE)).sum().backward()

if __name__ == "__main__":
    {again}
    main()
"""
    assert [f.when for f in found({"train.py": text}, "missing-torch-determinism")] == told


def test_what_some_entries_need_by_default_is_not_told_of_several() -> None:
    (one,) = found("def main():\n    np.random.rand(3)\n", "unseeded-numpy")
    two = one._replace(entries=("a.py",), when=("--out is set (the default)", "--resume is set"))
    three = one._replace(entries=("b.py",), when=("--resume is set",))
    (merged,) = combine([two, three], {one.location.path: ("a.py", "b.py")})
    assert merged.when == ("--resume is set",)


def test_of_alternatives_that_explain_nothing_what_each_setting_has_to_be_is_told() -> None:
    near, resize, far = (opaque_test((kind,), f"cfg.kind == '{kind}'") for kind in ("near", "resize", "far"))
    deep, steps, norm = (
        opaque_test(("d",), "cfg.deep"),
        opaque_test(("s",), "cfg.steps == 3"),
        opaque_test(("n",), "norm"),
    )
    cond = either(both(near, negate(deep)), both(negate(near), resize, deep, steps), both(resize, negate(steps), norm))
    assert words_of(cond, settings=True) == ("`cfg.kind` is 'near' or 'resize'",)
    others = either(both(negate(far), deep, norm), both(negate(far), near, negate(deep)))
    assert words_of(both(others, either(norm, steps, deep)), settings=True)[0] == "`cfg.kind` is not 'far'"
    unclear = either(both(negate(far), deep, steps), both(near, negate(deep)), both(far, near))
    assert words_of(unclear, settings=True) == ("`cfg.kind` is not 'far'",)


def test_a_setting_is_told_by_its_own_name_where_a_function_has_another_for_it() -> None:
    text = """
import library

class Net:
    def __init__(self, cfg):
        self._cfg = cfg

    def build(self):
        if is_near(self._cfg.kind):
            print(random.random())
        noise(self._cfg.noise)

def is_near(s):
    return s == "near"

def noise(on):
    if on:
        print(np.random.default_rng())

def main():
    Net(library.load_config()).build()
"""
    assert when(text, "unseeded-python") == [("`self._cfg.kind` is 'near'",)]
    assert when(text, "entropy-seed") == [("`self._cfg.noise` is true",)]


@pytest.mark.parametrize("end", ['raise ValueError("no")', 'sys.exit("no")', "pass"])
def test_values_with_which_a_program_stops_before_it_trains_are_not_told(end: str) -> None:
    text = f"""
class A(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.ReflectionPad2d(3), torch.nn.Conv2d(3, 3, 3))

    def update(self, x):
        self.net(x).sum().backward()

class B(A):
    pass

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="one")
    args = parser.parse_args()
    import sys
    if args.kind == "one":
        made = A()
    elif args.kind == "two":
        made = B()
    else:
        {end}
    made.cuda()
    while True:
        made.update(torch.load("x.pt").cuda())
"""
    told = ("--kind is two or one (the default)",) if end == "pass" else ()
    assert when(text, "nondeterministic-op") == [told]


def test_a_folder_that_is_none_by_default_has_to_be_given() -> None:
    program = """import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--train_dir"{default})
args = parser.parse_args()
step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.Variable(tf.zeros([3]))))
supervisor = tf.train.Supervisor(logdir=args.train_dir)
with supervisor.managed_session() as session:
    session.run(step)
"""
    told = [
        found({"train.py": program.replace("{default}", default)}, "leftover-checkpoint", target="tensorflow==1.15.5")
        for default in ("", ', default="logs"')
    ]
    assert [finding.when for one in told for finding in one] == [("--train_dir is given",), ()]


def test_a_missing_switch_of_tensorflow_matters_where_the_program_comes_to_what_varies() -> None:
    program = """import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="plain")
args = parser.parse_args()
x = tf.placeholder(tf.float32, [None, 8])
if args.model == "plain":
    y = tf.matmul(x, tf.Variable(tf.zeros([8, 1])))
else:
    y = tf.layers.dense(x, 1)
step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(y))
with tf.Session() as session:
    session.run(step)
"""
    always = program.replace("tf.matmul(x, tf.Variable(tf.zeros([8, 1])))", "tf.layers.dense(x, 2)")
    told = [
        found({"train.py": one}, "missing-determinism-switch", target="tensorflow==1.15.5") for one in (program, always)
    ]
    assert [finding.when for one in told for finding in one] == [("--model is not plain",), ()]


def test_a_write_that_replaces_the_flags_of_xla_is_part_of_the_remedy() -> None:
    """What is appended to what the shell gives takes nothing away of it."""
    program = """import os
{write}
import jax
import jax.numpy as jnp
import optax

print(jax.value_and_grad(lambda w, x: jnp.sum(x @ w))(jnp.ones([4000, 4000]), jnp.ones([4000, 4000])))
"""
    writes = (
        'os.environ["XLA_FLAGS"] = "--xla_gpu_graph_min_graph_size=1"',
        'os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_graph_min_graph_size=1"',
        'os.environ.setdefault("XLA_FLAGS", "--xla_gpu_graph_min_graph_size=1")',
    )
    told = [
        found({"train.py": program.replace("{write}", one)}, "missing-determinism-switch", target="jax")
        for one in writes
    ]
    assert [["line 2 of `train.py`" in finding.remedy for finding in one] for one in told] == [[True], [False], [False]]


def test_a_program_that_starts_itself_again_runs_there_what_its_first_process_does_not() -> None:
    text = """
import subprocess
import library

def restart(cfg):
    for rank in range(2):
        subprocess.Popen([sys.executable, *sys.argv, f"rank={rank}"])
    sys.exit(0)

def main():
    cfg = library.load_config()
    if cfg.ddp and cfg.rank is None:
        restart(cfg)
    else:
        print(random.random())
"""
    assert when(text, "unseeded-python") == [("`cfg.ddp` is false or `cfg.rank` is given",)]


def test_a_test_of_several_settings_is_that_of_each() -> None:
    text = """
import library

def main():
    cfg = library.load_config()
    if cfg.saves and library.ready() and not cfg.fresh:
        print(random.random())
"""
    assert when(text, "unseeded-python") == [("`cfg.fresh` is false", "`cfg.saves` is true")]


def test_that_an_earlier_run_has_left_a_file_is_no_condition_of_what_takes_it_up() -> None:
    text = """
def newest(folder, other):
    names = glob.glob(os.path.join(folder, "*.pt"))
    return os.path.join(folder, f"{len(names)}.pt") if names else other

def main():
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    path = newest("out", settings()["start"])
    if path is not None:
        net.load_state_dict(torch.load(path))
    for step in range(args.steps):
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        torch.save(net.state_dict(), os.path.join("out", f"{step}.pt"))
"""
    assert when(f"import glob\n{text}", "leftover-checkpoint") == [()]


def test_a_checkpoint_that_is_taken_up_without_training_leads_nowhere() -> None:
    text = """
def main():
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if args.opt == "a" or not args.train:
        if os.path.exists("out/last.pt"):
            net.load_state_dict(torch.load("out/last.pt"))
    if args.train:
        for step in range(args.steps):
            net(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            torch.save(net.state_dict(), "out/last.pt")
    else:
        print(net(torch.ones(2, 4)))
"""
    assert when(text, "leftover-checkpoint") == [("--opt is a (the default)", "--train is given")]


@pytest.mark.parametrize(
    ("option", "test", "told"),
    [
        ('default="sine"', 'if args.data == "sine":\n    pass\nelif "omni" in args.data:', ("--data contains omni",)),
        ('default="sine"', 'if "omni" not in args.data:', ("--data does not contain omni (the default)",)),
        ('default="omni_1"', 'if "omni" in args.data:', ("--data contains omni (the default)",)),
        ('choices=["omni", "omni_1", "sine"], default="sine"', 'if "omni_" in args.data:', ("--data is omni_1",)),
        ('nargs="+"', 'if "omni" in args.data:', ("--data contains omni",)),
        ("", 'if "omni" in args.data:\n    pass\nelif args.data == "sine":', ("--data is sine",)),
    ],
)
def test_what_a_flag_contains(option: str, test: str, told: tuple[str, ...]) -> None:
    text = f"import argparse\nimport random\nimport torch\np = argparse.ArgumentParser()\np.add_argument('--data', {option})\n"
    text += f"args = p.parse_args()\n{test}\n    print(random.random())\n"
    assert [one.when for one in found({"train.py": text}, "unseeded-python")] == [told]


def test_what_follows_a_tensor_to_its_device_does_not_decide_where_the_program_runs() -> None:
    text = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Conv2d(1, 1, 3)

    def forward(self, x):
        start = torch.eye(3)
        if x.is_cuda:
            start = start.cuda()
        return self.layer(x) + start.sum()

def main():
    torch.manual_seed(1)
    net = Net()
    x = torch.ones(1, 1, 8, 8)
    if args.cuda:
        net, x = net.cuda(), x.cuda()
    loss = net(x).sum() if args.half else net(2 * x).sum()
    loss.backward()
"""
    assert when(text, "missing-torch-determinism") == [("--cuda is given",)]


def test_what_is_made_on_the_way_goes_where_the_networks_are() -> None:
    text = """
torch.manual_seed(1)
net = torch.nn.Conv2d(1, 1, 3)
x = torch.ones(1, 1, 8, 8)
if args.cuda:
    net, x = net.cuda(), x.cuda()
loss = net(x).sum()
if args.half:
    loss = loss + torch.nn.BCELoss()(net(x), torch.ones(3).cuda())
loss.backward()
"""
    assert when(text, "missing-torch-determinism") == [("--cuda is given",)]


def test_a_length_of_a_flag_asks_whether_it_is_given() -> None:
    text = "def main():\n    if len({}) {}:\n        print(random.random())\n"
    assert when(text.format("args.file", "!= 0"), "unseeded-python") == [("--file is given",)]
    assert when(text.format("args.opt", "== 0"), "unseeded-python") == [("--opt is not set",)]


def test_a_part_of_a_config_is_one_however_a_program_gets_at_it() -> None:
    text = """
class Trainer:
    def __init__(self, config):
        self.config = config

    def run(self):
        if self.config["noise"]:
            print(random.random())

def main():
    config = settings()
    if config.get("noise", False):
        Trainer(config).run()
"""
    assert when(text, "unseeded-python") == [('`config.get("noise", False)` is true',)]


def test_what_nothing_was_seen_to_call_names_no_program() -> None:
    (called,) = found("def main():\n    print(random.random())\n", "unseeded-python")
    entries = {"train.py": ["train.py", "test.py"]}
    assert combine([called], entries)[0].when == ("`train.py` is started",)
    assert combine([called._replace(uncalled=True)], entries)[0].when == ()


def test_what_is_moved_for_other_processes_says_nothing_of_what_computes() -> None:
    text = """
import torch.distributed as dist

def gather(data):
    if dist.get_world_size() == 1:
        return [data]
    size = torch.LongTensor([len(data)]).to("cuda")
    sizes = [torch.LongTensor([0]).to("cuda") for _ in range(2)]
    dist.all_gather(sizes, size)
    return sizes

def main():
    torch.backends.cudnn.benchmark = True
    net = torch.nn.Conv2d(1, 1, 3)
    if args.cuda:
        net = net.cuda()
    out = net(torch.ones(1, 1, 8, 8))
    if args.train:
        print(gather(out))
"""
    assert when(text, "cudnn-benchmark") == [("--cuda is given",)]


def test_how_far_an_object_has_come_is_no_setting() -> None:
    text = """
class Loop:
    def __init__(self, path):
        self.resume_step = unknown(path)
        self.augment = unknown(path)

    def run(self):
        if self.resume_step:
            print(random.random())
        if self.augment:
            np.random.rand(3).tofile("noise")

def main():
    Loop(settings()).run()
"""
    assert when(text, "unseeded-python", "unseeded-numpy") == [(), ("`self.augment` is true",)]


def test_a_condition_that_holds_by_default_is_told_where_the_program_needs_another() -> None:
    (one,) = found("def main():\n    np.random.rand(3)\n", "unseeded-numpy")
    flags = ("--load is true (the default)", "--mode is train")
    each = [one._replace(entries=("a.py",), when=flags), one._replace(entries=("b.py",), when=("`mode` is 'train'",))]
    assert combine(each)[0].when == (
        "if `a.py` is started, --load is true (the default) and --mode is train",
        "if `b.py` is started, `mode` is 'train'",
    )


@pytest.mark.parametrize(
    ("drawn", "slight"),
    [
        ("os.makedirs(''.join(random.choice('abc') for _ in range(9)))", True),
        ("print([random.choice('abc') for _ in range(9)])", False),
        ("x = torch.rand(1, 3)\n    torch.onnx.export(net, x, 'net.onnx')\n    print(net(x))", True),
    ],
)
def test_a_draw_that_only_makes_a_name_or_an_input_decides_little(drawn: str, slight: bool) -> None:
    text = f"import os\n\nnet = torch.load('net.pt')\n\ndef main():\n    {drawn}\n"
    (one,) = [f for rule in ("unseeded-python", "unseeded-torch") for f in found(text, rule)]
    assert one.slight is slight


@pytest.mark.parametrize(
    ("step", "slight"), [("net.zero_grad()", True), ("torch.optim.SGD(net.parameters()).step()", False)]
)
def test_gradients_that_no_optimizer_steps_with_decide_little(step: str, slight: bool) -> None:
    text = f"""
def main():
    net = torch.nn.Conv2d(3, 8, 3).cuda()
    net(torch.ones(9, 3, 9, 9).cuda()).sum().backward()
    {step}
"""
    (one,) = found(text, "missing-torch-determinism")
    assert one.slight is slight


def test_a_loop_that_waits_for_checkpoints_is_told_for_each_way_that_leads_to_it() -> None:
    text = """
import time
import tensorflow as tf

def evaluate():
    seen = ""
    while True:
        newest = tf.train.latest_checkpoint("out")
        if newest is None or newest == seen:
            time.sleep(3)
            continue
        seen = newest
        print(newest)

def main():
    if args.opt == "eval":
        evaluate()
    elif args.opt == "decode":
        evaluate()
"""
    (one,) = found(text, "wall-clock-limit", target="tensorflow==1.15.5")
    assert one.when == ("--opt is decode or eval",)


def test_when_a_program_draws_at_all_is_told_without_what_decides_little() -> None:
    text = """
def main():
    os.makedirs("".join(random.choice("abc") for _ in range(9)))
    if args.train:
        print(random.random())
    elif args.half:
        print(random.gauss(0, 1))
"""
    name, *others = found(text, "unseeded-python")
    assert (name.slight, name.any_place) == (True, None)
    assert {one.any_place for one in others} == {AnyPlace(("--half is given or --train is given",), 2)}


def test_workers_share_a_generator_where_they_draw() -> None:
    text = """
from threading import Thread

def fill(out):
    if args.train:
        random.shuffle(out)

def main():
    for _ in range(4):
        Thread(target=fill, args=([1, 2, 3],)).start()
"""
    assert when(text, "threads-share-rng") == [("--train is given",)]


TURNS = """import argparse
import os
import random

parser = argparse.ArgumentParser()
parser.add_argument("--high", action="store_true")
parser.add_argument("--middle", action="store_true")
args = parser.parse_args()
random.seed(1)
files = []
for level in ["middle", "high"]:
    if level == "middle" and args.high:
        continue
    {second}
    for name in os.listdir(level):
        files.append(name)
random.shuffle(files)
"""


@pytest.mark.parametrize(
    ("second", "when"),
    [
        ("pass", ()),
        ("if args.high:\n        continue", ("--high is not given",)),
        ('if level == "high" and args.middle:\n        continue', ("--high is not given or --middle is not given",)),
    ],
)
def test_a_call_in_a_loop_has_the_conditions_of_any_turn(second: str, when: tuple[str, ...]) -> None:
    (finding,) = found({"train.py": TURNS.format(second=second)}, "unsorted-listing")
    assert finding.when == when


def test_of_a_condition_with_too_many_tests_the_flags_are_told_that_have_to_be_changed() -> None:
    def given(name: str) -> Cond:
        return flag_test(Flag(name, f"--{name}", False, "on", Location("train.py", 1, 1, 1, 1)), "truthy")

    parts = [both(given(kind), either(*(given(f"{kind}{n}") for n in range(7)))) for kind in ("cnn", "audio")]
    assert words_of(either(*parts)) == ()
    assert told_of(either(*parts)) == ("one of --audio and --cnn has another value than its default",)
    assert told_of(parts[0]) == words_of(parts[0]) != ()
    assert told_of(negate(either(*parts))) == ()
