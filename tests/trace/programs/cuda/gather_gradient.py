"""The gradient of gathering the same elements again and again is a scatter with atomics."""
import sys

import torch
from torch import nn


class Positions(nn.Module):
    """A learned bias for each distance between two places."""

    def __init__(self, heads, span):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(heads, span) * 0.02)

    def forward(self, distance):
        where = distance.reshape(1, -1).expand(self.bias.shape[0], -1)
        picked = torch.gather(self.bias, 1, where)  # <- op
        return picked.view(-1, *distance.shape)


def main():
    torch.manual_seed(2)
    torch.use_deterministic_algorithms("--fixed" in sys.argv)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    places = torch.arange(256, device=device)
    distance = (places[None] - places[:, None]).clamp(-8, 8) + 8
    model = Positions(8, 17).to(device)
    scores = torch.randn(8, 256, 256, device=device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    for _ in range(4):
        loss = (scores + model(distance)).logsumexp(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
