"""A decoder that enlarges its features: the gradient of the interpolation is added up with atomics."""
import os
import sys

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch
import torch.nn.functional as F
from torch import nn


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(16, 64)
        self.classes = nn.Parameter(torch.randn(5, 4) * 0.1)

    def forward(self, x):
        features = self.encode(x).view(-1, 4, 4, 4)
        large = F.interpolate(features, size=(96, 96), mode="bilinear", align_corners=False)  # <- op
        return torch.einsum("nchw,kc->nkhw", large, self.classes)


def main():
    torch.manual_seed(3)
    torch.use_deterministic_algorithms("--fixed" in sys.argv)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Decoder().to(device)
    x = torch.randn(8, 16, device=device)
    target = torch.rand(8, 5, 96, 96, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        loss = F.mse_loss(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
