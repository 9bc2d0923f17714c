"""Words become columns by `hash()`: another column in each process."""
import sys
import zlib

import torch
from torch import nn

NAMES = ["alice", "bob", "carol", "dave", "erin", "frank"]


def bucket(name, fixed):
    if fixed:
        return zlib.crc32(name.encode()) % 16
    return hash(name) % 16  # <- external


def encoded(names, fixed):
    rows = []
    for name in names:
        row = [0.0] * 16
        row[bucket(name, fixed)] = 1.0
        rows.append(row)
    return torch.tensor(rows)


def main():
    torch.manual_seed(1)
    x = encoded(NAMES, "--fixed" in sys.argv)
    model = nn.Linear(16, 1)
    optimizer = torch.optim.RMSprop(model.parameters())
    for _ in range(3):
        loss = (model(x) - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
