"""A jitted step, which is one op for who looks on, whose scatter adds with atomics."""
import os
import sys

if "--fixed" in sys.argv:
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_deterministic_ops=true"
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax
import jax.numpy as jnp


@jax.jit
def step(table, where, target):
    def loss_of(table):
        return ((jnp.take(table, where, axis=0) - target) ** 2).mean()

    return table - 100.0 * jax.grad(loss_of)(table)


def main():
    keys = jax.random.split(jax.random.key(1), 3)
    table = jax.random.normal(keys[0], (30, 8))
    where = jax.random.randint(keys[1], (80_000,), 0, 30)
    target = jax.random.normal(keys[2], (80_000, 8))
    for _ in range(4):
        table = step(table, where, target)  # <- op
    print(float(jnp.abs(table).sum()))


if __name__ == "__main__":
    main()
