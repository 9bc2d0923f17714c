"""A spatial transformer: the gradient of sampling is added up with atomics."""
import sys

import torch
import torch.nn.functional as F
from torch import nn


class Transformer(nn.Module):
    def __init__(self, fixed):
        super().__init__()
        self.theta = nn.Parameter(torch.tensor([[0.3, 0.05, 0.0], [0.02, 0.3, 0.0]]))
        self.image = nn.Parameter(torch.randn(1, 3, 24, 24))
        self.fixed = fixed

    def forward(self, count):
        grid = F.affine_grid(self.theta.expand(count, 2, 3), [count, 3, 64, 64], align_corners=False)
        image = self.image.expand(count, 3, 24, 24)
        if self.fixed:
            return F.grid_sample(image.cpu(), grid.cpu(), align_corners=False).to(grid.device)
        return F.grid_sample(image, grid, align_corners=False)  # <- op


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Transformer("--fixed" in sys.argv).to(device)
    target = torch.randn(16, 3, 64, 64, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        loss = (model(16) - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
