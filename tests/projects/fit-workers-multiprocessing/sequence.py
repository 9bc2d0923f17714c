import math

import numpy as np
import tensorflow as tf


class PatchSequence(tf.keras.utils.Sequence):
    def __init__(self, volumes, masks, batch_size=8, size=32):
        self.volumes = volumes
        self.masks = masks
        self.batch_size = batch_size
        self.size = size

    def __len__(self):
        return math.ceil(len(self.volumes) / self.batch_size)

    def __getitem__(self, idx):
        sl = slice(idx * self.batch_size, (idx + 1) * self.batch_size)
        r = np.random.randint(0, self.volumes.shape[1] - self.size)
        c = np.random.randint(0, self.volumes.shape[2] - self.size)
        return (self.volumes[sl, r:r + self.size, c:c + self.size],
                self.masks[sl, r:r + self.size, c:c + self.size])
