from dataclasses import dataclass
from typing import Optional


@dataclass
class Config:
    batch_size: int = 64
    epochs: int = 4
    lr: float = 1e-3
    np_seed: Optional[int] = None
