"""Normalisation constants are written by another process."""
import json
import subprocess
import sys

import torch
from torch import nn

OTHER = "import json, os, sys; json.dump({'mean': int.from_bytes(os.urandom(2), 'big') / 65536}, open(sys.argv[1], 'w'))"
FIXED = "import json, sys; json.dump({'mean': 0.5}, open(sys.argv[1], 'w'))"


def constants(path):
    with open(path) as stream:  # <- external
        return json.load(stream)


def main():
    fixed = "--fixed" in sys.argv
    subprocess.run([sys.executable, "-c", FIXED if fixed else OTHER, "constants.json"], check=True)
    torch.manual_seed(0)
    mean = torch.tensor(constants("constants.json")["mean"])
    x = torch.linspace(-1, 1, 12).reshape(4, 3) - mean
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
