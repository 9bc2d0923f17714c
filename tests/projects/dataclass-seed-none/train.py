import numpy as np
import tensorflow as tf

from config import Config


def mixup(rng, x, y, alpha=0.2):
    lam = rng.beta(alpha, alpha, size=(len(x), 1))
    perm = rng.permutation(len(x))
    return lam * x + (1 - lam) * x[perm], lam * y + (1 - lam) * y[perm]


def main(cfg):
    tf.keras.utils.set_random_seed(3)
    tf.config.experimental.enable_op_determinism()
    rng = np.random.RandomState(cfg.np_seed)  # <- A

    blob = np.load("features.npz")
    x, y = blob["x"], blob["y"]
    model = tf.keras.Sequential([
        tf.keras.Input((x.shape[1],)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(y.shape[1]),
    ])
    model.compile(tf.keras.optimizers.Adam(cfg.lr),
                  tf.keras.losses.CategoricalCrossentropy(from_logits=True))
    for _ in range(cfg.epochs):
        xm, ym = mixup(rng, x, y)
        model.fit(xm, ym, batch_size=cfg.batch_size)


if __name__ == "__main__":
    main(Config())
