"""Parameters are made in the order of a set of names, and each takes the next key."""
import sys

import jax
import jax.numpy as jnp

NAMES = {"embed", "query", "key", "value", "out", "norm"}


def parameters(key, fixed):
    names = sorted(NAMES) if fixed else list(NAMES)  # <- order
    keys = jax.random.split(key, len(names))
    return {name: jax.random.normal(one, (4, 4)) for name, one in zip(names, keys)}


@jax.jit
def step(params, x):
    def loss_of(params):
        y = x @ params["embed"]
        for name in ("query", "key", "value", "norm"):
            y = jnp.tanh(y @ params[name])
        return jnp.mean((y @ params["out"] - x) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


def main():
    params = parameters(jax.random.key(0), "--fixed" in sys.argv)
    x = jax.random.normal(jax.random.key(1), (8, 4))
    for _ in range(4):
        params, loss = step(params, x)
    print(loss)


if __name__ == "__main__":
    main()
