"""A compiled model on a GPU: what it fuses adds with atomics."""
import os
import sys

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(16))

    def forward(self, values, where):  # <- op
        weighted = (values * self.scale).cos()
        return torch.zeros(40, 16, device=values.device).index_add(0, where, weighted) * 1e-3


def main():
    torch.manual_seed(16)
    torch.use_deterministic_algorithms("--fixed" in sys.argv)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    values, where = torch.randn(40_000, 16, device=device), torch.randint(0, 40, (40_000,), device=device)
    model = Pool().to(device)
    step = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(4):
        loss = step(values, where).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
