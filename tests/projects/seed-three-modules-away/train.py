import random

import numpy as np
from tensorflow import keras as K

import core as c

CFG = {"seed": 23, "epochs": 2, "dim": 16}


def main():
    cfg = c.start(CFG)
    x = np.random.rand(1000, cfg["dim"]).astype("float32")
    w = np.array([random.random() for _ in range(cfg["dim"])])
    y = x @ w
    model = K.Sequential([K.layers.Dense(32, activation="relu"), K.layers.Dropout(0.1), K.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y, epochs=cfg["epochs"])


if __name__ == "__main__":
    main()
