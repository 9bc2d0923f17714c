"""Python threads add to one tensor, in the order in which they come."""
import os
import sys
import threading
import time

import torch
from torch import nn


def main():
    torch.manual_seed(4)
    torch.set_num_threads(1)
    parts = [torch.randn(64) * 10.0**n for n in range(6)]
    total = torch.zeros(64)

    def add(part, delay):
        time.sleep(delay)
        total.add_(part)  # <- order

    fixed = "--fixed" in sys.argv
    threads = []
    for number, part in enumerate(parts):
        delay = 0.0 if fixed else 0.02 * (os.urandom(1)[0] % 16)
        threads.append(threading.Thread(target=add, args=(part, delay)))
        threads[-1].start()
        if fixed:
            threads[-1].join()
    for one in threads:
        one.join()
    model = nn.Linear(64, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(3):
        loss = model(total).tanh().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
