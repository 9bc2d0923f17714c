import argparse
import os
import random

import numpy as np

os.environ["TF_DETERMINISTIC_OPS"] = "1"
import tensorflow as tf


class Experiment:
    def __init__(self, args):
        self.args = args
        if args.seed is not None:
            self.set_seed(args.seed)

    def set_seed(self, seed):
        random.seed(seed)
        np.random.seed(seed)
        tf.random.set_seed(seed)

    def run(self):
        x = np.load("x.npy")
        noise = np.random.normal(0.0, 0.1, size=x.shape)  # <- A
        model = tf.keras.models.load_model("start_weights.h5")
        model.compile(optimizer=tf.keras.optimizers.Adam(1e-4), loss="mse")
        model.fit(x + noise, x, shuffle=False, epochs=self.args.epochs)
        model.save("denoiser.h5")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int)
    ap.add_argument("--epochs", type=int, default=3)
    Experiment(ap.parse_args()).run()
