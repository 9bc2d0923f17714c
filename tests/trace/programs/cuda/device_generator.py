"""A generator of the GPU of one's own, seeded by the system."""
import sys

import torch
from torch import nn


class Masked(nn.Module):
    def __init__(self, device, fixed):
        super().__init__()
        self.inner = nn.Linear(32, 32)
        self.draws = torch.Generator(device)
        self.draws.manual_seed(1) if fixed else self.draws.seed()

    def forward(self, x):
        kept = torch.rand(x.shape, generator=self.draws, device=x.device) > 0.15  # <- draw
        return self.inner(x * kept)


def main():
    torch.manual_seed(14)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Masked(device, "--fixed" in sys.argv).to(device)
    x = torch.randn(64, 32, device=device)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(4):
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
