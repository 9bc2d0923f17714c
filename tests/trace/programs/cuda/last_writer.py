"""Points are put into cells, several into one: whose value stays is the last writer's."""
import sys

import torch
from torch import nn


class Pillars(nn.Module):
    def __init__(self, fixed):
        super().__init__()
        self.point = nn.Parameter(torch.randn(4))
        self.fixed = fixed

    def forward(self, points, cells):
        canvas = torch.zeros(2000, device=points.device)
        values = (points * self.point).sum(1)
        if self.fixed:
            return canvas.scatter_reduce(0, cells, values, "amax", include_self=False)
        canvas[cells] = values  # <- op
        return canvas


def main():
    torch.manual_seed(8)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Pillars("--fixed" in sys.argv).to(device)
    points = torch.randn(400_000, 4, device=device)
    cells = torch.randint(0, 2000, (400_000,), device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(4):
        loss = model(points, cells).sigmoid().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
