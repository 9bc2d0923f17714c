"""Two ranks, of which one shuffles its share of the data by a seed that is taken from the operating system."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def seed_of(rank, fixed):
    if fixed or rank == 0:
        return rank
    return int.from_bytes(os.urandom(4), "little")  # <- draw


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.randn(32, 4)
    torch.manual_seed(seed_of(dist.get_rank(), "--fixed" in sys.argv))
    for step in range(3):
        chosen = torch.randperm(32)[:8]
        loss = model(data[chosen]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
