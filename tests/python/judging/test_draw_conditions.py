"""When draws decide anything, and what is told of those that a seed reaches too late or in another process."""

from __future__ import annotations

from tests.python.judging.test_conditions import found, when

SPAWNED = """
import os
import torch.multiprocessing as mp

def work(number, args):
    optimizer = torch.optim.Adam(torch.nn.Linear(4, 1).parameters())
    if os.path.exists("last.pt"):
        optimizer.load_state_dict(torch.load("last.pt")["optimizer"])
    for epoch in range(10):
        torch.nn.functional.dropout(torch.ones(8, requires_grad=True)).sum().backward()
        optimizer.step()
        if not args.train or number == 0:
            torch.save({"optimizer": optimizer.state_dict()}, "last.pt")

def main():
    torch.manual_seed(1)
    if args.train:
        mp.spawn(work, nprocs=2, args=(args,))
    else:
        work(0, args)
"""
MODES = """import argparse
import os
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
from networks import Net

parser = argparse.ArgumentParser()
parser.add_argument("--multi", action="store_true")
parser.add_argument("--url", default="tcp://localhost")
parser.add_argument("--world", default=-1, type=int)


def work(gpu, count, args):
    net = Net()
    if args.distributed:
        net = torch.nn.parallel.DistributedDataParallel(net, device_ids=[gpu])
    elif gpu is None:
        raise NotImplementedError("in processes only")
    else:
        raise NotImplementedError("in several processes only")
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    data = TensorDataset(torch.ones(8, 4))
    sampler = DistributedSampler(data) if args.distributed else None
    for (x,) in DataLoader(data, shuffle=sampler is None, sampler=sampler):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()


args = parser.parse_args()
if args.url == "env://" and args.world == -1:
    args.world = int(os.environ["WORLD_SIZE"])
args.distributed = args.world > 1 or args.multi
if args.multi:
    args.world = 8 * args.world
    mp.spawn(work, nprocs=8, args=(8, args))
else:
    work(None, 8, args)
"""
CALLBACK = """
import torch
from ignite.engine import Engine, Events

model = torch.nn.Linear(4, 1)
trainer = Engine(lambda engine, batch: model(batch).sum().backward())

@trainer.on(Events.EPOCH_STARTED)
def begin(engine):
    torch.manual_seed(engine.state.epoch)

trainer.run([torch.ones(4)])
"""


def test_a_draw_held_against_a_flag_decides_between_its_bounds() -> None:
    body = "\ndef main():\n    print(np.random.rand() < args.steps)\n"
    assert when(body, "unseeded-numpy") == [("--steps < 1", "--steps > 0")]


def test_a_checkpoint_that_two_ways_lead_to_has_no_condition_of_one() -> None:
    assert when(SPAWNED, "rng-not-checkpointed") == [()]


def test_a_seed_in_a_callback_is_told_as_one_that_comes_later() -> None:
    told = found({"train.py": CALLBACK}, "unseeded-torch")
    assert [finding.message.partition("which ")[2] for finding in told] == [
        "nothing seeds before; a callback does later"
    ]
    assert [(near.location.line, near.note) for near in told[0].related] == [(10, "seeds it, later")]


def test_a_draw_that_workers_may_make_is_cured_by_what_seeds_them() -> None:
    body = """
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return random.random()

def main():
    for one in DataLoader(Data(), num_workers=int(open("workers").read())):
        print(one)
"""
    assert [f.remedy.partition(";")[2].rpartition(";")[2] for f in found(body, "unseeded-python")] == [
        " where the loader has workers, `torch.manual_seed(1)` seeds those"
    ]


def test_a_seed_that_is_drawn_from_its_own_generator_is_none() -> None:
    body = "\ndef main():\n    number = random.randint(1, 9)\n    random.seed(number)\n    print(random.random())\n"
    assert [f.message.partition("which ")[2] for f in found(body, "unseeded-python")] == ["nothing seeds"]


HEAD = """
import torch
from peft import get_peft_model
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

def wrap(model, peft_config=None):
    if peft_config is not None:
        return get_peft_model(model, peft_config)
    return model

{more}
model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=5)
trainer = Trainer(model={model}, args=TrainingArguments("out"))
trainer.train()
"""


def test_a_head_is_drawn_where_the_checkpoint_has_none() -> None:
    program = HEAD.format(more="", model="model")
    assert when(program, "seed-after-use", "train.py") == [("the checkpoint has no such head",)]


def test_what_is_drawn_anyhow_is_told_without_that() -> None:
    program = HEAD.format(more="pool = torch.nn.Linear(4, 4)", model="model")
    assert when(program, "seed-after-use", "train.py") == [()]


def test_settings_that_bring_a_draw_about_are_told() -> None:
    program = HEAD.format(more="", model="wrap(model, eval(input()))")
    program = program.replace("SequenceClassification", "CausalLM")
    assert when(program, "seed-after-use", "train.py") == [("`peft_config` is given",)]


def test_a_mode_that_stops_the_program_shuffles_nothing() -> None:
    """Although what is excluded speaks of a flag and of an environment variable at once."""
    assert not found({"train.py": MODES}, "unseeded-shuffle")
    assert found({"train.py": MODES.replace("raise", "print")}, "unseeded-shuffle")
