"""The gradient of indexing adds up in the order in which threads arrive."""
import sys

import torch
from torch import nn


class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(50))

    def forward(self, where):
        picked = self.table[where]  # <- op
        return picked.sin()


def main():
    torch.manual_seed(2)
    torch.set_num_threads(16)
    torch.use_deterministic_algorithms("--fixed" in sys.argv)
    where = torch.randint(0, 50, (300_000,))
    weights = torch.randn(300_000)
    model = Lookup()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for _ in range(3):
        loss = (model(where) * weights).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
