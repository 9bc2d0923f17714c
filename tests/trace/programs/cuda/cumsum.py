"""A long running sum: blocks wait for each other's sums and take what is there."""
import sys

import torch
from torch import nn


class Decay(nn.Module):
    def __init__(self, fixed):
        super().__init__()
        self.rate = nn.Parameter(torch.ones(()))
        self.fixed = fixed

    def forward(self, steps):
        scaled = steps * self.rate
        if self.fixed:
            return scaled.view(3000, 1000).cumsum(1).view(-1)
        return scaled.cumsum(0)  # <- op


def main():
    torch.manual_seed(7)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Decay("--fixed" in sys.argv).to(device)
    steps = torch.randn(3_000_000, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for _ in range(4):
        loss = model(steps).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
