"""A graph convolution with a sparse matrix in coordinates: cuSPARSE adds the rows up with atomics."""
import os
import sys

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
from torch import nn


class Convolution(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x, edges):
        hidden = self.inner(x)
        gathered = torch.mm(edges, hidden)  # <- op
        return gathered.tanh()


def main():
    torch.manual_seed(12)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    where = torch.randint(0, 300, (2, 60_000))
    edges = torch.sparse_coo_tensor(where, torch.rand(60_000), (300, 300)).coalesce().to(device)
    edges = edges.to_dense() if "--fixed" in sys.argv else edges
    model = Convolution(16).to(device)
    x, y = torch.randn(300, 16, device=device), torch.randn(300, 16, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        loss = (model(x, edges) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
