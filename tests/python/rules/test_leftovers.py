"""What `leftover-checkpoint` says of a training that is passed over where a file is there already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

TRAIN = """import os
import numpy as np
import pandas as pd
import torch

torch.manual_seed(1)
np.random.seed(1)
path = os.path.join("out", "history.csv")
if not os.path.exists(path):
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    losses = []
    for step in range(10):
        loss = net(torch.ones(2, 4)).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    torch.save(net.state_dict(), os.path.join("out", "net.pt"))
    pd.DataFrame(losses).to_csv(path)
"""


def test_the_file_that_is_looked_for_is_no_checkpoint(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(TRAIN)
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "leftover-checkpoint").json["findings"]
    assert finding["message"] == (
        "`path.exists` finds the file that an earlier run has left in `'out'`: the same command a second time does not train"
    )
    assert [(one["line"], one["note"]) for one in finding["related"]] == [(19, "saves there")]
