"""The seed is the time."""
import argparse
import random
import time

import numpy as np
import torch
from torch import nn


def make_seed(given):
    if given is not None:
        return given
    return int(time.time() * 1000) % 2**31  # <- time


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    seed_all(make_seed(12 if args.fixed else None))
    model = nn.LSTM(4, 5, batch_first=True)
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.randn(2, 6, 4)
    for _ in range(3):
        loss = model(x)[0].square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
