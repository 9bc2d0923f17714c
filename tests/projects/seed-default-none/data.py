import numpy as np


def bootstrap(path):
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    rows = np.random.choice(len(table), size=len(table), replace=True)
    sample = table[rows]
    return sample[:, :-1], sample[:, -1]
