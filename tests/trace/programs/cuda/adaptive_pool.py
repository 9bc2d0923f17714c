"""Pooling to more places than there are: each is in many windows, and the gradient adds with atomics."""
import os
import sys

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
import torch.nn.functional as F
from torch import nn


class Pyramid(nn.Module):
    def __init__(self, fixed):
        super().__init__()
        self.lift = nn.Linear(3, 8)
        self.head = nn.Linear(8 * 48 * 48, 10)
        self.fixed = fixed

    def forward(self, x):
        features = self.lift(x).permute(0, 3, 1, 2).contiguous()
        if self.fixed:
            pooled = features.repeat_interleave(4, 2).repeat_interleave(4, 3)[..., :48, :48]
        else:
            pooled = F.adaptive_avg_pool2d(features, 48)  # <- op
        return self.head(pooled.flatten(1))


def main():
    torch.manual_seed(10)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Pyramid("--fixed" in sys.argv).to(device)
    x, y = torch.randn(8, 13, 13, 3, device=device), torch.randint(0, 10, (8,), device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
