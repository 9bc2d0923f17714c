"""Worker processes hand out what they have first."""
import multiprocessing
import os
import sys
import time

import torch
from torch import nn


def feature(number):
    time.sleep((os.urandom(1)[0] % 8) * 0.02)
    return [number / 8, number % 3]


def features(fixed):
    with multiprocessing.get_context("fork").Pool(3) as pool:
        results = pool.imap(feature, range(8)) if fixed else pool.imap_unordered(feature, range(8))
        return [one for one in results]  # <- order


def main():
    torch.manual_seed(0)
    x = torch.tensor(features("--fixed" in sys.argv))
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for row in x:
        loss = model(row).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
