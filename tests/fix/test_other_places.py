"""Cures at other places than that of the finding: where an object is made, a graph, a process begins, a checkpoint."""

from __future__ import annotations

from typing import Any

import pytest

from d9mlint.catalogue import load
from d9mlint.fix import edited
from d9mlint.fix.place import Place
from d9mlint.fix.places import edits
from d9mlint.model import Edit, Finding, Location, Package, Related, Target

NOTE = "there"


def place(text: str, what: str) -> Location:
    """Where ``what`` stands in a text."""
    begin = text.index(what)
    line, column = text.count("\n", 0, begin) + 1, begin - (text.rfind("\n", 0, begin) + 1) + 1
    return Location("a.py", line, column, line, column + len(what))


def cured(
    text: str, cure: dict[str, Any], at: str, there: str, *, remedy: str = "", concerns: tuple[str, ...] = ()
) -> str:
    """The text after a cure at ``at``, of a finding that tells ``there`` by a note; empty where there is none."""
    related = (Related(place(text, there), NOTE),) if there else ()
    where = place(text, at)
    found = Finding("r", "D9M999", "h", "algo", "error", "high", "m", where, remedy, related=related, concerns=concerns)
    got = [one for one in edits(cure, Place(found, where, {"a.py": text.encode()})) if isinstance(one, Edit)]
    done = edited(text.encode(), got) if got else b""
    assert done is not None
    return done.decode()


ENV = "def main(seed):\n\tenv = gym.make('x')\n{}\tprint(env.action_space.sample())\n"


@pytest.mark.parametrize(
    ("between", "behind", "wanted"),
    [
        ("", "\tenv = gym.make('x')\n", "\tenv.action_space.seed(1)\n"),
        ("\tenv.reset(seed=seed)\n", "\tenv.reset(seed=seed)\n", "\tenv.action_space.seed(seed)\n"),
        ("\tstate = env.reset(seed=next(seed))\n", "\tenv = gym.make('x')\n", "\tenv.action_space.seed(1)\n"),
        ("\tenv.seed(args.seed)\n", "\tenv.seed(args.seed)\n", "\tenv.action_space.seed(args.seed)\n"),
    ],
)
def test_a_method_behind_what_makes_the_object(between: str, behind: str, wanted: str) -> None:
    text = ENV.format(between)
    remedy = "`env.action_space.seed(1)` after it is made; `env.reset(seed=1)` does not do it"
    done = cured(text, {"behind": NOTE}, "env.action_space.sample()", "gym.make('x')", remedy=remedy)
    assert done == text.replace(behind, behind + wanted, 1)


def test_an_object_that_is_not_named_is_seeded_at_once_where_the_method_returns_it() -> None:
    text = "def transforms():\n    return Compose([flip])\n"
    cure = {"behind": NOTE, "chain": {"set_random_state": NOTE}}
    remedy = "`transform.set_random_state(1)`"
    assert cured(text, cure, "Compose([flip])", "", remedy=remedy) == text.replace("])", "]).set_random_state(1)")
    assert cured(text, {"behind": NOTE}, "Compose([flip])", "", remedy=remedy) == ""


@pytest.mark.parametrize(
    ("text", "there", "wanted"),
    [
        ("import t as tf\ntf.set_random_seed(7)\ntf.reset_default_graph()\nx = 1\n", "tf.reset_default_graph()",
         "import t as tf\ntf.set_random_seed(7)\ntf.reset_default_graph()\ntf.set_random_seed(7)\nx = 1\n"),
        ("import t as tf\ntf.set_random_seed(s)\nwith tf.Graph().as_default():\n    # net\n    x = 1\n", "tf.Graph()",
         "import t as tf\ntf.set_random_seed(s)\nwith tf.Graph().as_default():\n    tf.set_random_seed(s)\n    # net\n    x = 1\n"),
        ("import t as tf\ntf.set_random_seed(f())\ng = tf.Graph()\nwith g.as_default():\n  x = 1\n", "tf.Graph()",
         "import t as tf\ntf.set_random_seed(f())\ng = tf.Graph()\nwith g.as_default():\n  tf.set_random_seed(1)\n  x = 1\n"),
        ("import t as tf\ntf.set_random_seed(7)\nwith tf.Graph().as_default(): x = 1\n", "tf.Graph()", ""),
        ("import t\ntf.set_random_seed(7)\ntf.reset_default_graph()\n", "tf.reset_default_graph()", ""),
    ],
)  # fmt: skip
def test_a_seed_in_the_graph(text: str, there: str, wanted: str) -> None:
    seed = text.split("\n")[1]
    assert cured(text, {"within": NOTE}, seed, there) == wanted


@pytest.mark.parametrize(
    ("head", "tail", "seed"),
    [
        ("def work(rank, config):", "mp.spawn(work, nprocs=2)", "1 + rank"),
        ("def work(queue, config):", "mp.Process(target=work).start()", "1"),
        ("def work(queue, seed):", "mp.Process(target=work).start()", "seed"),
        ("def work(queue, seed=None):", "mp.Process(target=work).start()", "1"),
        ("def work(rank, args):", "p.add_argument('--seed', type=int, default=3)\nmp.spawn(work)\nf(args.seed)", "args.seed + rank"),
        ("def work(rank, args):", "p.add_argument('--seed', type=int)\nmp.spawn(work)\nf(args.seed)", "1 + rank"),
    ],
)  # fmt: skip
def test_a_seed_at_the_start_of_a_process(head: str, tail: str, seed: str) -> None:
    text = f"import torch\nimport numpy as n\n@wrap\n{head}\n    'Text.'\n    net = Net()\n{tail}\n"
    done = cured(text, {"function": NOTE}, "Net()", "def", concerns=("numpy", "torch"))
    seeds = f"    n.random.seed({seed})\n    torch.manual_seed({seed})\n"
    assert done == text.replace("    net", f"{seeds}    net", 1)


SAVE = """import torch
state = torch.load(path)
net.load_state_dict(state["net"])
optimizer.load_state_dict(state["optimizer"])
start = state["epoch"]
{}
"""
LOADED = """optimizer.load_state_dict(state["optimizer"])
if "rng_state" in state:
    torch.set_rng_state(state["rng_state"].cpu())
"""


@pytest.mark.parametrize(
    ("saved", "wanted"),
    [
        ('torch.save({"net": 1}, path)', 'torch.save({"net": 1, "rng_state": torch.get_rng_state()}, path)'),
        ('all = {\n    "net": 1,\n}\ntorch.save(all, path)',
         'all = {\n    "net": 1,\n    "rng_state": torch.get_rng_state(),\n}\ntorch.save(all, path)'),
        ('all = {"net": 1,\n       "step": 2}\ntorch.save(all, path)',
         'all = {"net": 1,\n       "step": 2,\n       "rng_state": torch.get_rng_state()}\ntorch.save(all, path)'),
        ("torch.save(everything(), path)", ""),
        ('rng = np.random.default_rng(1)\ntorch.save({"net": 1}, path)', ""),
    ],
)  # fmt: skip
def test_states_of_generators_in_a_checkpoint(saved: str, wanted: str) -> None:
    text = SAVE.format(saved)
    at = next(line for line in text.split("\n") if line.startswith("torch.save"))
    load = 'optimizer.load_state_dict(state["optimizer"])'
    done = cured(text, {"states": NOTE}, at, load)
    assert done == (SAVE.format(wanted).replace(f"{load}\n", LOADED) if wanted else "")


def test_states_are_written_with_the_quotes_of_the_checkpoint() -> None:
    text = SAVE.format("torch.save({'net': 1}, path)")
    done = cured(
        text, {"states": NOTE}, "torch.save({'net': 1}, path)", 'optimizer.load_state_dict(state["optimizer"])'
    )
    assert "torch.save({'net': 1, 'rng_state': torch.get_rng_state()}, path)" in done
    assert "if 'rng_state' in state:\n    torch.set_rng_state(state['rng_state'].cpu())\n" in done


def test_states_of_the_gpus_too_where_they_are_mentioned() -> None:
    text = SAVE.format('torch.save({"net": net.cuda()}, path)')
    done = cured(
        text, {"states": NOTE}, 'torch.save({"net": net.cuda()}, path)', 'optimizer.load_state_dict(state["optimizer"])'
    )
    assert '"cuda_rng_state": torch.cuda.get_rng_state_all()' in done
    assert '    torch.cuda.set_rng_state_all([state.cpu() for state in state["cuda_rng_state"]])\n' in done


def test_states_of_numpy_and_python_too_where_these_draw() -> None:
    saves = 'torch.save({"net": 1}, path)'
    text = SAVE.format(f"import random\nimport numpy as np\nx = np.random.rand() * random.random()\n{saves}")
    done = cured(text, {"states": NOTE}, saves, 'optimizer.load_state_dict(state["optimizer"])')
    plain = '[part.tolist() if hasattr(part, "tolist") else part for part in np.random.get_state()]'
    assert f'"numpy_rng_state": {plain}, "python_rng_state": random.getstate()}}' in done
    assert '    np.random.set_state(tuple(state["numpy_rng_state"]))\n' in done
    assert '    random.setstate(state["python_rng_state"])\n' in done


@pytest.mark.parametrize(
    ("loader", "wanted"),
    [
        (
            "DataLoader(data, shuffle=True)",
            "DataLoader(data, shuffle=True, generator=torch.Generator().manual_seed(1))",
        ),
        ("DataLoader(data, generator=None)", "DataLoader(data, generator=torch.Generator().manual_seed(1))"),
        ("DataLoader(data, generator=own)", ""),
    ],
)
def test_a_loader_gets_a_generator_where_no_seed_at_the_start_will_do(loader: str, wanted: str) -> None:
    text = f"import torch\nfrom torch.utils.data import DataLoader\nloader = {loader}\n"
    rule = load().rules["unseeded-shuffle"]
    remedy = rule.remedy(Target({"torch": Package("2.13.0", "")}), ("torch",))
    done = cured(text, dict(rule.cure), loader, "", remedy=remedy)
    assert done == (text.replace(loader, wanted) if wanted else "")


def test_another_place_is_changed_where_the_rule_says_so() -> None:
    text = "data = data.shuffle(n)\ndata = data.shard(2, rank)\n"
    cure = {"remedy": True, "at": [NOTE]}
    done = cured(text, cure, "data.shard(2, rank)", "data.shuffle(n)", remedy="`shuffle(n, seed=1)`")
    assert done == text.replace("(n)", "(n, seed=1)")
