"""Shards are written by several writers, and read in the order in which the file system lists them."""
import os
import random
import shutil
import sys

import torch
from torch import nn


def write(folder, count):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    numbers = list(range(count))
    random.SystemRandom().shuffle(numbers)
    for number in numbers:
        with open(os.path.join(folder, f"shard-{number:03}.txt"), "w") as stream:
            stream.write(f"{number / count} {number % 3} 1.0")


def read(folder, fixed):
    names = os.listdir(folder)  # <- order
    if fixed:
        names.sort()
    rows = []
    for name in names:
        with open(os.path.join(folder, name)) as stream:
            rows.append([float(word) for word in stream.read().split()])
    return torch.tensor(rows)


def main():
    torch.manual_seed(0)
    write("shards", 12)
    x = read("shards", "--fixed" in sys.argv)
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for row in x:
        loss = model(row).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
