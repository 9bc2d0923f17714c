import os


def configure(deterministic=True):
    if deterministic:
        os.environ["TF_DETERMINISTIC_OPS"] = "yes"  # <- A
    os.environ["TF_FORCE_GPU_ALLOW_GROWTH"] = "true"
