import os

ENV = {
    "TF_DETERMINISTIC_OPS": "1",
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
}


def apply():
    for key, value in ENV.items():
        os.environ[key] = value
    os.environ["TF_USE_CUDNN_AUTOTUNE"] = "0"  # <- A
