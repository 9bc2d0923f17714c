import os

os.environ.update({"TF_DETERMINISTIC_OPS": "1"})
