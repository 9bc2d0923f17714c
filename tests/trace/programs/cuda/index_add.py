"""Messages of a graph are added up where they arrive, in whatever order atomics take."""
import os
import sys

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
from torch import nn


class Convolution(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x, source, target):
        messages = self.inner(x)[source]
        total = torch.zeros_like(x)
        total.index_add_(0, target, messages)  # <- op
        return torch.relu(total / 64)


def main():
    torch.manual_seed(1)
    torch.use_deterministic_algorithms("--fixed" in sys.argv)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    edges = torch.randint(0, 64, (2, 40_000), device=device)
    model = nn.ModuleList([Convolution(32), Convolution(32)]).to(device)
    x, y = torch.randn(64, 32, device=device), torch.randn(64, 32, device=device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(4):
        hidden = x
        for layer in model:
            hidden = layer(hidden, *edges)
        loss = (hidden - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
