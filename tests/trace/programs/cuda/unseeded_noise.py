"""Python and NumPy are seeded, the generator of the GPU is not."""
import random
import sys

import numpy as np
import torch
from torch import nn


def noisy(x):
    return x + 0.1 * torch.randn_like(x)  # <- draw


def main():
    random.seed(0)
    np.random.seed(0)
    if "--fixed" in sys.argv:
        torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    weights = nn.Parameter(torch.ones(8, device=device))
    x = torch.from_numpy(np.random.randn(64, 8).astype("float32")).to(device)
    optimizer = torch.optim.SGD([weights], lr=0.1)
    for _ in range(4):
        loss = (noisy(x) @ weights).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
