"""Messages of a graph are added up by a scatter, op by op."""
import os
import sys

if "--fixed" in sys.argv:
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_deterministic_ops=true"
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax
import jax.numpy as jnp


def loss_of(weights, x, edges):
    messages = x[edges[0]] @ weights
    total = jax.ops.segment_sum(messages, edges[1], 40)  # <- op
    return jnp.tanh(total / 64).mean()


def main():
    keys = jax.random.split(jax.random.key(0), 3)
    weights = jax.random.normal(keys[0], (16, 16))
    x, edges = jax.random.normal(keys[1], (40, 16)), jax.random.randint(keys[2], (2, 60_000), 0, 40)
    for _ in range(4):
        loss, gradient = jax.value_and_grad(loss_of)(weights, x, edges)
        weights = weights - 0.1 * gradient
    print(float(loss), float(jnp.abs(weights).sum()))


if __name__ == "__main__":
    main()
