"""Fused attention in half precision: its gradient adds the parts of a query's up in any order."""
import os
import sys

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.inner, self.outer, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x):
        count, length, width = x.shape
        parts = self.inner(x).view(count, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)  # <- op
        return self.outer(mixed.transpose(1, 2).reshape(count, length, width))


def main():
    torch.manual_seed(13)
    torch.use_deterministic_algorithms("--fixed" in sys.argv)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Attention(512, 8).to(device, torch.bfloat16)
    x = torch.randn(2, 4096, 512, device=device, dtype=torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        loss = (model(x) - x).float().square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
