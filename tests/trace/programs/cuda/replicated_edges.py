"""Padding that repeats the border: its gradient adds the border's up with atomics."""
import sys

import torch
import torch.nn.functional as F
from torch import nn


class Blur(nn.Module):
    def __init__(self, fixed):
        super().__init__()
        self.image = nn.Parameter(torch.randn(4, 8, 16, 16))
        self.fixed = fixed

    def forward(self):
        mode = "constant" if self.fixed else "replicate"
        padded = F.pad(self.image, (40, 40, 40, 40), mode=mode)  # <- op
        return (padded[..., 1:, 1:] - padded[..., :-1, :-1]).sin()


def main():
    torch.manual_seed(9)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Blur("--fixed" in sys.argv).to(device)
    weights = torch.randn(4, 8, 95, 95, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        loss = (model() * weights).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
