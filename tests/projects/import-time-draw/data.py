import numpy as np

N = 6000
_ORDER = np.random.permutation(N)  # <- A
TRAIN_IDX, VALID_IDX = _ORDER[:5000], _ORDER[5000:]


def load(path="digits.npz"):
    blob = np.load(path)
    x, y = blob["x"][:N], blob["y"][:N]
    return (x[TRAIN_IDX], y[TRAIN_IDX]), (x[VALID_IDX], y[VALID_IDX])
