import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"  # <- A

import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.sum((x @ w) ** 2)


w = jax.random.normal(jax.random.key(1), (64, 64))
for _ in range(10):
    w = w - 0.1 * jax.grad(loss)(w, jnp.ones((128, 64)))  # <- B
print(w)
