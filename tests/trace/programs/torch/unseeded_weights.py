"""A classifier whose weights nobody has seeded."""
import argparse

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),  # <- draw
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.head = nn.Linear(width * 4, 3)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def data():
    generator = torch.Generator().manual_seed(7)
    return torch.randn(32, 1, 8, 8, generator=generator), torch.randint(0, 3, (32,), generator=generator)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    if args.fixed:
        torch.manual_seed(1)
    model = Net(4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    x, y = data()
    for start in range(0, 32, 8):
        loss = nn.functional.cross_entropy(model(x[start : start + 8]), y[start : start + 8])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())


if __name__ == "__main__":
    main()
