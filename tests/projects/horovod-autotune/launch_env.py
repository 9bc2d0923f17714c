import os


def apply():
    os.environ["TF_DETERMINISTIC_OPS"] = "1"
    os.environ["HOROVOD_AUTOTUNE"] = "1"  # <- A
    os.environ["HOROVOD_CYCLE_TIME"] = "5"
