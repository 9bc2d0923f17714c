import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"
os.environ["TF_CUDNN_USE_FRONTEND"] = "1"

import tensorflow as tf

LATENT = 32


class VAE(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = tf.keras.layers.Dense(2 * LATENT)
        self.dec = tf.keras.layers.Dense(784, activation="sigmoid")
        self.rng = tf.random.Generator.from_non_deterministic_state()  # <- A

    def call(self, x):
        mean, logvar = tf.split(self.enc(x), 2, axis=-1)
        z = mean + tf.exp(0.5 * logvar) * self.rng.normal(tf.shape(mean))
        return self.dec(z), mean, logvar


def main():
    tf.random.set_seed(1)
    (x, _), _ = tf.keras.datasets.mnist.load_data()
    ds = tf.data.Dataset.from_tensor_slices(x.reshape(-1, 784).astype("float32") / 255.0)
    ds = ds.shuffle(60000, seed=1).batch(128)
    vae, opt = VAE(), tf.keras.optimizers.Adam(1e-3)
    for batch in ds:
        with tf.GradientTape() as tape:
            recon, mean, logvar = vae(batch)
            rec = tf.reduce_mean(tf.square(recon - batch))
            kl = -0.5 * tf.reduce_mean(1 + logvar - mean ** 2 - tf.exp(logvar))
            loss = rec + 1e-3 * kl
        grads = tape.gradient(loss, vae.trainable_variables)
        opt.apply_gradients(zip(grads, vae.trainable_variables))


if __name__ == "__main__":
    main()
