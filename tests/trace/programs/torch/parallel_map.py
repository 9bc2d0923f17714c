"""Files are decoded by a pool, and used in the order in which they are done."""
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import torch
from torch import nn


def decode(number):
    time.sleep(0.02 * (os.getpid() * 7 + number * 13 + time.time_ns() // 1000) % 0.1)
    return [float(number + k) / 10 for k in range(4)]


def load(count, fixed):
    rows = []
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(decode, number) for number in range(count)]
        for future in futures if fixed else as_completed(futures):  # <- order
            rows.append(future.result())
    return torch.tensor(rows)


def main():
    torch.manual_seed(8)
    x = load(12, "--fixed" in sys.argv)
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for start in range(0, 12, 4):
        loss = model(x[start : start + 4]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
