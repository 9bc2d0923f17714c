import numpy as np


def batches(x, y, size):
    perm = np.random.permutation(len(x))
    for i in range(0, len(x) - size + 1, size):
        take = perm[i:i + size]
        yield x[take], y[take]
