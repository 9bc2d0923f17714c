"""A key that is made of the time."""
import sys
import time

import jax
import jax.numpy as jnp


def new_key(fixed):
    seed = 7 if fixed else time.time_ns() % 2**31  # <- time
    return jax.random.key(seed)


@jax.jit
def step(weight, key, x):
    kept = jax.random.bernoulli(key, 0.8, x.shape)
    loss, gradient = jax.value_and_grad(lambda weight: jnp.mean(((x * kept) @ weight - 1.0) ** 2))(weight)
    return weight - 0.05 * gradient, loss


def main():
    started = time.time()
    key = new_key("--fixed" in sys.argv)
    weight = jnp.ones((4, 1))
    x = jax.random.normal(jax.random.key(1), (16, 4))
    for _ in range(6):
        key, drawn = jax.random.split(key)
        weight, loss = step(weight, drawn, x)
    print("took", time.time() - started)


if __name__ == "__main__":
    main()
