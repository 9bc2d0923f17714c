"""A layer of one's own whose bias is never filled."""
import math
import sys

import torch
from torch import nn


class Affine(nn.Module):
    def __init__(self, inside, outside, fixed):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outside, inside))
        self.bias = nn.Parameter(torch.empty(outside))  # <- memory
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if fixed:
            nn.init.zeros_(self.bias)

    def forward(self, x):
        return x @ self.weight.t() + self.bias


def main():
    torch.manual_seed(9)
    model = nn.Sequential(Affine(300, 400, "--fixed" in sys.argv), nn.ReLU(), nn.Linear(400, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(10, 300)
    for _ in range(3):
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
