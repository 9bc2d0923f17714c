"""Weights of classes from a weighted count: atomics add the floats up."""
import sys

import torch
import torch.nn.functional as F
from torch import nn


def frequencies(labels, certainty, fixed):
    if fixed:
        return F.one_hot(labels, 6).to(certainty.dtype).t().mul(certainty).sum(1)
    return torch.bincount(labels, weights=certainty, minlength=6)  # <- op


def main():
    torch.manual_seed(6)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    labels = torch.randint(0, 6, (60_000,), device=device)
    certainty = torch.rand(60_000, device=device)
    weights = 1 / frequencies(labels, certainty, "--fixed" in sys.argv)
    model = nn.Linear(10, 6).to(device)
    x = torch.randn(512, 10, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=10.0)
    for _ in range(4):
        loss = F.cross_entropy(model(x), labels[:512], weight=weights / weights.sum())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
