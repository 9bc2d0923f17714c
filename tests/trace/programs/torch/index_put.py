"""Scatters gradients into a table by `index_put_` with many threads."""
import sys

import torch
from torch import nn


class Histogram(nn.Module):
    def __init__(self, bins):
        super().__init__()
        self.bins = bins
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, values, where):
        table = torch.zeros(self.bins)
        table = table.index_put((where,), values * self.scale, accumulate=True)  # <- op
        return table


def main():
    torch.manual_seed(2)
    torch.set_num_threads(16)
    if "--fixed" in sys.argv:
        torch.use_deterministic_algorithms(True)
    values, where = torch.randn(200_000) * 10, torch.randint(0, 7, (200_000,))
    model = Histogram(7)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for _ in range(4):
        loss = model(values, where).tanh().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
