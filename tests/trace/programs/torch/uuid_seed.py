"""The run's name is a UUID, and the seed comes from it."""
import sys
import uuid

import torch
from torch import nn


class Run:
    def __init__(self, fixed):
        self.name = "run-0001" if fixed else uuid.uuid4().hex  # <- draw
        self.folder = f"runs/{self.name}"

    @property
    def seed(self):
        return int.from_bytes(self.name[:6].encode(), "big")


def main():
    run = Run("--fixed" in sys.argv)
    torch.manual_seed(run.seed)
    model = nn.GRU(3, 4)
    optimizer = torch.optim.NAdam(model.parameters())
    x = torch.ones(5, 1, 3)
    for _ in range(3):
        loss = model(x)[0].sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
