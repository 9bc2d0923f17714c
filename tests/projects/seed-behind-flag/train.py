import argparse
import os
import random

os.environ["TF_DETERMINISTIC_OPS"] = "1"
os.environ["TF_CUDNN_USE_FRONTEND"] = "1"

import numpy as np
import tensorflow as tf

from net import Net


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--fixed-seed", action="store_true", help="reproducible run")
    p.add_argument("--epochs", type=int, default=5)
    return p.parse_args()


def main():
    args = parse()
    if args.fixed_seed:
        random.seed(0)
        np.random.seed(0)
        tf.random.set_seed(0)

    blob = np.load("frames.npz")
    idx = np.random.permutation(len(blob["x"]))  # <- A
    cut = int(0.8 * len(idx))
    x, y = blob["x"][idx[:cut]], blob["y"][idx[:cut]]

    net = Net(hidden=64)
    opt = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    for epoch in range(args.epochs):
        for i in range(0, cut, 32):
            loss = net.step(opt, x[i:i + 32], y[i:i + 32])
        print(epoch, float(loss))


if __name__ == "__main__":
    main()
