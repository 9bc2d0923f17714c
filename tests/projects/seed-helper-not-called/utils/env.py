import os


def setup_gpu():
    os.environ["TF_DETERMINISTIC_OPS"] = "1"
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
