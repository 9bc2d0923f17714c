"""A compiled model: the sums inside are one op for who looks on."""
import sys

import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, values, where):  # <- op
        weighted = (values * self.scale).cos()
        return torch.zeros(3).index_add(0, where, weighted) * 1e-5


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1 if "--fixed" in sys.argv else 16)
    values, where = torch.randn(400_000), torch.randint(0, 3, (400_000,))
    model = Pool()
    step = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    for _ in range(3):
        out = step(values, where)
        loss = out.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
