"""The loss of a segmentation: blocks add their parts of the mean up with atomics."""
import os
import sys

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
import torch.nn.functional as F
from torch import nn


def loss_of(scores, labels, weight, fixed):
    if fixed:
        return F.cross_entropy(scores.permute(0, 2, 3, 1).reshape(-1, 4), labels.reshape(-1), weight)
    return F.cross_entropy(scores, labels, weight)  # <- op


def main():
    torch.manual_seed(11)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Linear(6, 4).to(device)
    x = torch.randn(16, 256, 256, 6, device=device)
    labels = torch.randint(0, 4, (16, 256, 256), device=device)
    weight = torch.rand(4, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        loss = loss_of(model(x).permute(0, 3, 1, 2).contiguous(), labels, weight, "--fixed" in sys.argv)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
