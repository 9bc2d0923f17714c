"""A vocabulary in the order of a set of strings."""
import sys
import time

import torch
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog while the other dog sleeps in the warm sun".split()


def vocabulary(words, fixed):
    unique = set(words)
    listed = sorted(unique) if fixed else list(unique)  # <- order
    return {word: number for number, word in enumerate(listed)}


class Bag(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embed = nn.Embedding(size, 6)
        self.out = nn.Linear(6, 2)

    def forward(self, ids):
        return self.out(self.embed(ids).mean(0))


def main():
    started = time.time()
    torch.manual_seed(5)
    known = vocabulary(TEXT, "--fixed" in sys.argv)
    model = Bag(len(known))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    for start in range(0, len(TEXT) - 4, 4):
        ids = torch.tensor([known[word] for word in TEXT[start : start + 4]])
        loss = nn.functional.cross_entropy(model(ids)[None], torch.tensor([start % 2]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("took", time.time() - started)


if __name__ == "__main__":
    main()
