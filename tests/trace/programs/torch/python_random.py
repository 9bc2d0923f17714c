"""Negative samples are drawn by Python's generator, seeded in a function that nobody calls."""
import random
import sys

import torch
from torch import nn

ITEMS = list(range(50))


def set_seed(seed):
    random.seed(seed)
    torch.manual_seed(seed)


def negatives(positive, count):
    pool = [item for item in ITEMS if item != positive]
    return random.sample(pool, count)  # <- draw


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(50, 8)

    def forward(self, anchor, others):
        return self.items(others) @ self.items(anchor)


def main():
    if "--fixed" in sys.argv:
        set_seed(0)
    torch.manual_seed(0)
    model = Scores()
    optimizer = torch.optim.SparseAdam(model.parameters()) if False else torch.optim.Adam(model.parameters())
    for positive in range(4):
        others = torch.as_tensor(negatives(positive, 5))
        loss = model(torch.tensor(positive), others).exp().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
