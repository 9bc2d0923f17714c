from tensorflow import config as tfc
from tensorflow.keras.utils import set_random_seed as _srs


def apply(value):
    _srs(value)
    tfc.experimental.enable_op_determinism()
