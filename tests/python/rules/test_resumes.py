"""What `rng-not-checkpointed` says that a resumed run loses besides its generators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from d9mlint.python.rules.seeds.resumes.checkpoints import best_known
from tests.python.interpreter.test_story import story

Run = Callable[..., Any]
TRAIN = """import argparse
import elsewhere
import torch
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--resume", action="store_true")
parser.add_argument("--wrap", action="store_true")
args = parser.parse_args()
torch.manual_seed(1)
model = torch.nn.Linear(4, 1)
optimizer = {optimizer}
scaler = torch.amp.GradScaler("cuda")
average = torch.optim.swa_utils.AveragedModel(model)
wrapped = elsewhere.convert(model) if args.wrap else model
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)
first = 0
if args.resume:
    checkpoint = torch.load("last.pt")
    model.load_state_dict(checkpoint["net"])
    first = checkpoint["epoch"] + 1
    {load}
for epoch in range(first, 10):
    for (x,) in DataLoader(TensorDataset(torch.ones(8, 4)), shuffle=True):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
    {step}
    torch.save({{"net": model.state_dict(), {kept}"epoch": epoch}}, "last.pt")
"""
ADAM, SGD = "torch.optim.Adam(model.parameters())", "torch.optim.SGD(model.parameters(), lr=0.1)"
LOADED = 'optimizer.load_state_dict(checkpoint["optimizer"])'
STEP, KEPT = "schedule.step()", '"optimizer": optimizer.state_dict(), '


@pytest.mark.parametrize(
    ("optimizer", "load", "step", "lost"),
    [
        (ADAM, "pass", STEP, "the optimizer and the learning-rate scheduler"),
        (ADAM, "pass", "pass", "the optimizer"),
        (ADAM, LOADED, STEP, "the learning-rate scheduler"),
        (ADAM, LOADED + '; schedule.last_epoch = checkpoint["epoch"]', STEP, ""),
        (ADAM, LOADED, "pass", ""),
        (ADAM, LOADED, "schedule.step(epoch)", ""),
        (ADAM, "pass", "schedule.step(epoch=epoch)", "the optimizer"),
        (ADAM, LOADED, "schedule.step(7)", "the learning-rate scheduler"),
        (ADAM, f"{LOADED}; wrapped.load_state_dict(checkpoint['net'])", STEP, "the learning-rate scheduler"),
        (ADAM, LOADED, "scaler.step(optimizer)", "the gradient scaler"),
        (ADAM, LOADED + "; scaler.load_state_dict(checkpoint['scaler'])", "scaler.step(optimizer)", ""),
        (ADAM, LOADED, "average.update_parameters(model)", "the moving average of the weights"),
        (ADAM, LOADED + "; average.load_state_dict(checkpoint['mean'])", "average.update_parameters(model)", ""),
        (ADAM, LOADED + "; average.module.load_state_dict(checkpoint['mean'])", "average.update_parameters(model)", ""),
        (SGD, "pass", "pass", ""),  # plain gradient descent remembers nothing
        (SGD[:-1] + ", momentum=0.9)", "pass", "pass", "the optimizer"),
        (ADAM, "for one in (optimizer, schedule): one.load_state_dict(checkpoint[type(one)])", STEP, ""),
    ],
)
def test_what_else_a_resumed_run_loses_is_told(
    d9mlint: Run, optimizer: str, load: str, step: str, lost: str
) -> None:  # fmt: skip
    Path("train.py").write_text(
        TRAIN.format(optimizer=optimizer, load=load, step=step, kept=KEPT * ("optimizer" in load))
    )
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    (finding,) = run.json["findings"]
    words = finding["message"].partition("random generators")[2].partition(":")[0]
    assert words == (f", nor of {lost}" if lost else "")
    first = f"save and load the `state_dict()` of {lost} and the states of the generators; " if lost else ""
    assert finding["remedy"].startswith(f"{first}save `torch.get_rng_state()`")


def test_a_schedule_that_computes_each_rate_from_the_last_is_lost_whatever_epoch_it_is_told(d9mlint: Run) -> None:
    text = TRAIN.format(optimizer=ADAM, load=LOADED, step="schedule.step(epoch)", kept=KEPT)
    Path("train.py").write_text(text.replace("StepLR(optimizer, 3)", "MultiplicativeLR(optimizer, lambda epoch: 0.9)"))
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    assert "nor of the learning-rate scheduler" in run.json["findings"][0]["message"]


AGENT = """import argparse
import gymnasium as gym
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--resume", action="store_true")
args = parser.parse_args()
torch.manual_seed(1)
env = gym.make("Pendulum-v1")
state, _ = env.reset(seed=1)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters())
first = 0
if args.resume:
    model.load_state_dict(torch.load("last.pt"))
    first = int(open("step.txt").read())
for step in range(first, 1000):
    action = model(torch.as_tensor(state)) + torch.randn(1)
    state, reward, *_ = env.step(action.detach().numpy())
    optimizer.zero_grad()
    (action * reward).sum().backward()
    optimizer.step()
    torch.save(model.state_dict(), "last.pt")
"""


def test_an_agent_loses_its_target_networks_and_its_memory(d9mlint: Run) -> None:
    Path("train.py").write_text(AGENT)
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    (finding,) = run.json["findings"]
    assert finding["remedy"].startswith(
        "save and load the `state_dict()` of the optimizer, target networks and the replay buffer (if there are any) "
        "and the states of the generators; save `torch.get_rng_state()`"
    )


EPOCHS = """import argparse
import itertools
import torch
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--resume", action="store_true")
parser.add_argument("--epochs", type=int, default=9)
args = parser.parse_args()
torch.manual_seed(1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(TensorDataset(torch.ones(8, 4)), shuffle=True)
first, done, best = 0, 0, 0.0


def counted(batches):
    for number, batch in enumerate(batches):
        print(number)
        yield batch


if args.resume:
    checkpoint = torch.load("last.pt")
    model.load_state_dict(checkpoint["net"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    first, done = checkpoint["epoch"], checkpoint["batch"]
for epoch in {epochs}:
    for batch, (x,) in enumerate({data}):
        {test}
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
        {inside}
    result = float(model(torch.ones(4)))
    {after}
"""
SAVE = 'torch.save({"net": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "last.pt")'
FROM, ANEW = "range(first, args.epochs)", "range(args.epochs)"
HELD = SAVE.replace('"epoch": epoch', '"epoch": epoch, "best": best')
PLACE, COUNT, BEST = "the place in the epoch", "the number of epochs or steps done", "the best result so far"
NOT_TAKEN_UP = f"{COUNT} (saved, but the loop does not begin with it)"


@pytest.mark.parametrize(
    ("epochs", "data", "test", "inside", "after", "lost"),
    [
        (FROM, "loader", "pass", "pass", SAVE, ""),
        (FROM, "loader", "pass", SAVE, "pass", PLACE),
        (FROM, "counted(loader)", "pass", SAVE, "pass", PLACE),
        (FROM, "loader", "pass", f"if batch % 10 == 0: {SAVE}", SAVE, PLACE),
        (FROM, "loader", "if batch < done: continue", SAVE, "pass", ""),
        (FROM, "itertools.islice(loader, done, None)", "pass", SAVE, "pass", ""),
        (ANEW, "loader", "pass", "pass", SAVE, NOT_TAKEN_UP),
        (ANEW, "loader", "pass", "pass", SAVE.replace(', "epoch": epoch', ""), COUNT),
        ("range(1, 10)", "loader", "pass", "pass", SAVE, ""),  # the number in the file may be loaded unseen
        ("range(1, 10)", "loader", "pass", "pass", SAVE.replace(', "epoch": epoch', ""), COUNT),
        ("range(args.epochs - first)", "loader", "pass", "pass", SAVE, ""),  # as many as are left
        (ANEW, "loader", "if epoch < first: continue", "pass", SAVE, ""),
        (ANEW, "loader", "pass", SAVE, "pass", f"{PLACE} and {NOT_TAKEN_UP}"),
        (FROM, "loader", "pass", "pass", f"if result > best: best = result; {SAVE}", BEST),
        (FROM, "loader", "pass", "pass", f"if result > best: best = result; {HELD}", ""),
    ],
)  # fmt: skip
def test_how_far_the_training_was_is_told_where_it_is_lost(
    d9mlint: Run, epochs: str, data: str, test: str, inside: str, after: str, lost: str
) -> None:  # fmt: skip
    Path("train.py").write_text(EPOCHS.format(epochs=epochs, data=data, test=test, inside=inside, after=after))
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    (finding,) = run.json["findings"]
    words = finding["message"].partition("random generators")[2].partition(":")[0]
    assert words == (f", nor of {lost}" if lost else "")


WEIGHTS = """import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("{flag}", default="")
parser.add_argument("--epochs", type=int, default=9)
args = parser.parse_args()
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters())
first = 0
if args.{name}:
    net.load_state_dict(torch.load(args.{name}))
    {more}
for epoch in range({start}args.epochs):
    optimizer.zero_grad()
    net(torch.rand(8, 4)).sum().backward()
    optimizer.step()
    torch.save(net.state_dict(), "out/net_%d.pth" % epoch)
"""
COUNTED, SLOTS = 'first = int(args.model.split("_")[-1]) + 1', 'optimizer.load_state_dict(torch.load("optimizer.pth"))'


@pytest.mark.parametrize(
    ("flag", "more", "start", "severity"),
    [
        ("--model", "pass", "", "info"),
        ("--pretrained-weights", "pass", "0, ", "info"),
        ("--model", COUNTED, "first, ", "warning"),
        ("--model", SLOTS, "", "warning"),
        ("--resume-model", "pass", "", "warning"),
        ("--load-model", "pass", "", "warning"),
        ("--checkpoint", "pass", "", "warning"),
        ("--pretrained-checkpoint", "pass", "", "info"),
        ("--init_checkpoint", SLOTS, "", "warning"),
    ],
)
def test_weights_to_begin_with_are_no_resume(d9mlint: Run, flag: str, more: str, start: str, severity: str) -> None:
    name = flag.lstrip("-").replace("-", "_")
    script = WEIGHTS.format(flag=flag, name=name, more=more, start=start)
    Path("train.py").write_text(script.replace("net_%d", "net_epoch_%d"))
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    (finding,) = run.json["findings"]
    assert finding["severity"] == severity
    assert ("enough to begin another training with" in finding["message"]) is (severity == "info")


@pytest.mark.parametrize(
    ("told", "severity"),
    [
        ("Load pretrained model from checkpoint.", "info"),
        ("weights to fine-tune", "info"),
        ("model to load", "warning"),
        ("checkpoint to resume the pretraining from", "warning"),
    ],
)
def test_the_help_of_a_flag_tells_a_warm_start(d9mlint: Run, told: str, severity: str) -> None:
    script = WEIGHTS.format(flag="--load_model", name="load_model", more="pass", start="")
    Path("train.py").write_text(script.replace('default="")', f'default="", help="{told}")'))
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    assert [finding["severity"] for finding in run.json["findings"]] == [severity]


@pytest.mark.parametrize(
    ("flag", "old", "new", "severity"),
    [
        ("--load_model", "", "", "info"),
        ("--load_model", "in range(args.epochs)", "in range(settings['epochs'])", "info"),
        ("--resume_model", "", "", "warning"),
        ("--load_model", "in range(args.epochs)", "in range(first, args.epochs)", "warning"),
        ("--load_model", "torch.save(net", "    torch.save(net", "warning"),
        ("--load_model", "net.state_dict(),", "{'net': net.state_dict(), 'epoch': epoch},", "warning"),
    ],
)
def test_a_model_saved_when_all_is_done_is_no_interrupted_run(
    d9mlint: Run, flag: str, old: str, new: str, severity: str
) -> None:
    name = flag.lstrip("-")
    script = WEIGHTS.format(flag=flag, name=name, more="first = 3", start="").replace("    torch.save", "torch.save")
    assert old in script
    Path("train.py").write_text(script.replace(old, new).replace('"out/net_%d.pth" % epoch', '"out/net.pth"'))
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    assert [finding["severity"] for finding in run.json["findings"]] == [severity]


def test_a_path_made_of_a_flag_asks_for_the_flag(d9mlint: Run) -> None:
    script = WEIGHTS.format(flag="--load_path", name="load_path", more=SLOTS, start="")
    script = script.replace("import torch", "from pathlib import Path\nimport torch", 1)
    made = "root = Path(args.load_path) if args.load_path else None\nif root and root.exists():"
    Path("train.py").write_text(script.replace("if args.load_path:", made))
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    assert [finding["when"] for finding in run.json["findings"]] == [["--load_path is set"]]


RANKS = """import argparse
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--resume", action="store_true")
args = parser.parse_args()
dist.init_process_group("nccl")
torch.manual_seed({seed})
model = torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.Dropout(0.5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
first = 0
if args.resume:
    checkpoint = torch.load({file})
    model.load_state_dict(checkpoint["net"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    first = checkpoint["epoch"] + 1
for epoch in range(first, 10):
    optimizer.zero_grad()
    model(torch.ones(8, 4)).sum().backward()
    optimizer.step()
    if {test}:
        state = {{"net": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}}
        torch.save(state, {file})
"""
OF_ONE, OF_EACH = '"last.pt"', 'f"last{dist.get_rank()}.pt"'


@pytest.mark.parametrize(
    ("seed", "test", "file", "each"),
    [
        ("1 + dist.get_rank()", "dist.get_rank() == 0 and (epoch % 2 == 0 or epoch == 9)", OF_ONE, True),
        ("1 + dist.get_rank()", "dist.get_rank() == 0", OF_ONE, True),
        ("1 + dist.get_rank()", "epoch % 2 == 0", OF_EACH, False),
        ("1", "dist.get_rank() == 0", OF_ONE, False),
    ],
)
def test_ranks_that_draw_apart_have_states_of_their_own(
    d9mlint: Run, seed: str, test: str, file: str, each: bool
) -> None:
    Path("train.py").write_text(RANKS.format(seed=seed, test=test, file=file))
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    assert ("of each rank, in a file of its own" in finding["remedy"]) is each


ENDS = """import argparse
import torch
from tqdm import trange

parser = argparse.ArgumentParser()
parser.add_argument("--load-weights", default="")
args = parser.parse_args()
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
if args.load_weights:
    net.load_state_dict(torch.load(args.load_weights))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in {steps}:
    optimizer.zero_grad()
    net(torch.rand(8, 4)).sum().backward()
    optimizer.step()
    {within}
{after}
"""
SAVE, PAIR = (
    'torch.save(net.state_dict(), "net.pt")',
    'torch.save([net.state_dict(), optimizer.state_dict()], "net.pt")',
)


@pytest.mark.parametrize(
    ("steps", "within", "after", "severity"),
    [
        ("range(100)", "pass", SAVE, "info"),
        ("trange(100, leave=False)", "pass", SAVE, "info"),
        ("range(100)", SAVE, SAVE, "warning"),
        ("range(100)", "pass", PAIR, "warning"),
        ("range(int(args.load_weights[-1]), 100)", "pass", SAVE, "warning"),
    ],
)
def test_weights_saved_at_the_end_begin_another_training(
    d9mlint: Run, steps: str, within: str, after: str, severity: str
) -> None:
    Path("train.py").write_text(ENDS.format(steps=steps, within=within, after=after))
    found = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py").json["findings"]
    assert {one["severity"] for one in found} == {severity}


OVERRIDES = """import argparse
import os
import torch


class Slow(torch.optim.SGD):
    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.loaded = True


parser = argparse.ArgumentParser()
parser.add_argument("--save", default="test.pt")
args = parser.parse_args()
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
optimizer = Slow(net.parameters(), lr=0.1)
if args.save != "test.pt":
    if os.path.exists(args.save):
        data = torch.load(args.save)
        net.load_state_dict(data["net"])
        optimizer.load_state_dict(data["optimizer"])
for step in range(100):
    optimizer.zero_grad()
    net(torch.rand(8, 4)).sum().backward()
    optimizer.step()
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, args.save)
"""


def test_a_load_in_an_override_is_told_where_the_program_asks_for_it(d9mlint: Run) -> None:
    Path("train.py").write_text(OVERRIDES)
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    (finding,) = run.json["findings"]
    assert finding["related"][0]["line"] == OVERRIDES[: OVERRIDES.index("    optimizer.load")].count("\n") + 1
    assert finding["when"] == ["--save is not test.pt"]


BRANCHES = """import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--whole", action="store_true")
args = parser.parse_args()
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
optimizer.load_state_dict(torch.load("net.pt")["optimizer"])
for step in range(100):
    optimizer.zero_grad()
    net(torch.rand(8, 4)).sum().backward()
    optimizer.step()
    state = {"net": net.state_dict(), "optimizer": optimizer.state_dict()}
    if args.whole:
        torch.save(state, "net.pt")
    else:
        torch.save(OTHER, "part.pt")
"""


@pytest.mark.parametrize(("other", "when"), [("state", []), ("net.weight", ["--whole is given"])])
def test_a_checkpoint_that_both_branches_save_depends_on_neither(d9mlint: Run, other: str, when: list[str]) -> None:
    Path("train.py").write_text(BRANCHES.replace("OTHER", other))
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    assert [one["when"] for one in run.json["findings"]] == [when]


SAVER = """import argparse
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--restore", action="store_true")
args = parser.parse_args()
tf.set_random_seed(1)
x = tf.nn.dropout(tf.ones([8, 4]), 0.5)
loss = tf.reduce_mean(x * tf.get_variable("weights", [4], initializer=tf.zeros_initializer()))
train = tf.train.AdamOptimizer().minimize(loss)
saver = tf.train.Saver({variables})
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    if args.restore:
        saver.restore(session, "run/model")
    for step in range(100):
        session.run(train)
        saver.save(session, "run/model")
"""


@pytest.mark.parametrize(
    ("variables", "whole"),
    [
        ("", True),
        ("tf.trainable_variables()", False),
        ("tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)", False),
        ("var_list=tf.get_collection('trainable_variables', scope='net')", False),
        ("[v for v in tf.trainable_variables() if 'net' in v.name]", False),
        ("[v for v in tf.global_variables() if 'net' in v.name]", True),
        ("tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)", True),
    ],
)
def test_a_saver_of_the_trainable_variables_leaves_out_the_optimizer(d9mlint: Run, variables: str, whole: bool) -> None:
    Path("train.py").write_text(SAVER.format(variables=variables))
    run = d9mlint("check", "--format", "json", "--select", "rng-not-checkpointed", "train.py")
    (finding,) = run.json["findings"]
    assert ("nor of the optimizer" in finding["message"]) is not whole


SHUFFLED = """import argparse
import torch
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
parser.add_argument("--shuffle", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(1)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters())
loader = DataLoader(torch.load("x.pt"), shuffle={shuffle})
if args.resume:
    state = torch.load(args.resume)
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    first = state["epoch"] + 1
else:
    first = 0
for epoch in range(first, 9):
    for x in loader:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
    torch.save({{"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}}, "last.pt")
"""


@pytest.mark.parametrize(
    ("shuffle", "when"),
    [("True", {"--resume is given"}), ("args.shuffle", {"--resume is given", "--shuffle is set"})],
)
def test_what_is_drawn_only_for_a_flag_is_lost_only_then(d9mlint: Run, shuffle: str, when: set[str]) -> None:
    Path("train.py").write_text(SHUFFLED.format(shuffle=shuffle))
    (found,) = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    assert {*found["when"]} == when


def test_a_checkpoint_of_one_trainer_or_another_is_told_for_both(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text("""import argparse
import lightning as L
import torch
from nets import Net, Log

parser = argparse.ArgumentParser()
parser.add_argument("--log", action="store_true")
parser.add_argument("--resume")
args = parser.parse_args()
L.seed_everything(1)
loader = torch.utils.data.DataLoader(torch.load("x.pt"), shuffle=True)
if args.log:
    trainer = L.Trainer(callbacks=[Log(args)])
else:
    trainer = L.Trainer()
trainer.fit(Net(), loader, ckpt_path=args.resume)
""")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    assert finding["when"] == ["--resume is given"]


def test_a_load_at_the_end_is_none_that_resumes(d9mlint: Run) -> None:
    """The method that does both is told under the flag that resumes."""
    Path("train.py").write_text("""import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--restore", action="store_true")
args = parser.parse_args()
torch.manual_seed(1)
net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters())


def load():
    state = torch.load("best.pt")
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])


if args.restore:
    load()
for _ in range(10):
    net(torch.randn(8, 4)).sum().backward()
    optimizer.step()
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, "best.pt")
load()
print(net(torch.ones(1, 4)))
""")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    assert finding["when"] == ["--restore is given"]


def test_what_is_known_in_part_is_known_better_than_what_is_not_known_at_all() -> None:
    told = story(
        "import json\nimport torch\nmodel = torch.nn.Linear(4, 1)\n"
        "known = json.load(open('known.json'))\n"
        "def save(state):\n    torch.save(state, 'last.pt')\n"
        "save(known['all'])\n"
        "save({'net': model.state_dict(), 'best': known['best'], 'more': known['more']})\n"
    )
    saves = [event for event in told.events if event.name == "torch.save"]
    assert len(saves) == 2
    assert best_known(saves) == saves[1:]


def test_either_of_two_flags_may_ask_for_what_was_saved(d9mlint: Run) -> None:
    asked = 'parser.add_argument("--start-from", default="")\nargs = parser.parse_args()\n'
    code = TRAIN.format(optimizer=ADAM, load=LOADED, step="pass", kept=KEPT)
    code = code.replace("args = parser.parse_args()\n", asked).replace(
        "if args.resume:", "if args.resume or args.start_from:"
    )
    Path("train.py").write_text(code)
    Path("elsewhere.py").write_text("def convert(model):\n    return model\n")
    (one,) = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    assert one["when"] == ["--resume is given or --start-from is set"]
