import torch.nn.functional as F
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, stride=2)
        self.pool = nn.AdaptiveAvgPool2d(1)

    def forward(self, x):
        x = F.pad(self.down(x), (1, 1, 1, 1), mode="reflect")  # <- A
        x = F.interpolate(x, scale_factor=2, mode="bilinear")
        return self.pool(x)
