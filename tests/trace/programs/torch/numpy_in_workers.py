"""A dataset draws from a NumPy generator of its own in the workers of the loader."""
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self, seed):
        self.images = np.arange(24 * 5 * 5, dtype=np.float32).reshape(24, 5, 5) / 600
        self.seed = seed

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        rng = np.random.default_rng(self.seed)  # <- draw
        x, y = rng.integers(0, 3, 2)
        return torch.from_numpy(self.images[index, x : x + 3, y : y + 3].copy())


def main():
    torch.manual_seed(0)
    data = Crops(11 if "--fixed" in sys.argv else None)
    loader = DataLoader(data, batch_size=8, num_workers=2, shuffle=True)
    model = nn.Sequential(nn.Flatten(), nn.Linear(9, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for batch in loader:
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
