"""What names in the text of a file say of the releases that its program can run on, before anything is parsed.

A screen, not an analysis: a name in a text of several lines may count, and one that is put together does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from d9mlint.model import Limit
from d9mlint.python.source.reading import NOTEBOOK


@dataclass(frozen=True, slots=True)
class _Sign:
    package: str
    specifier: str
    pattern: re.Pattern[bytes]
    words: tuple[bytes, ...]
    """One of them is in each file that has it: a quick look before the slow one."""
    needs: bytes = b""
    """In the file, too."""
    without: tuple[bytes, ...] = ()
    """None of them is in the file."""
    anywhere: bool = False
    """It counts under a ``try`` or a test of a version, too."""
    shown: str = ""
    """What a release must have; empty for what stands there."""


def _any_of(names: Iterable[bytes]) -> bytes:
    """The alternatives of a pattern that is any of these names."""
    return b"|".join(map(re.escape, names))


def _module(specifier: str, *names: bytes) -> _Sign:
    """A module of Keras that is imported."""
    pattern = re.compile(rb"^[ \t]*(?:from|import)[ \t]+((?:tensorflow\.)?keras\.(?:" + _any_of(names) + rb"))\b", re.M)
    return _Sign("tensorflow", specifier, pattern, words=tuple(b"keras." + name for name in names))


def _names(package: str, specifier: str, *names: bytes, needs: bytes = b"") -> _Sign:
    """Names as they stand in code, in lines in which no text or comment begins before."""
    pattern = re.compile(rb"^[^#\n\"']*?(?<![\w.])(" + _any_of(names) + rb")(?!\w)", re.M)
    return _Sign(package, specifier, pattern, names, needs)


_PYTHON2 = re.compile(rb"^[ \t]*(print)[ \t]+[\"'\w]|^[ \t]*(except[ \t]+[\w.]+[ \t]*,[ \t]*\w+)[ \t]*:", re.M)
"""Statements that only Python 2 has; a text in quotes may have such a line, too."""
_GONE_IN_2 = (
    b"ConfigProto", b"InteractiveSession", b"Session", b"assign", b"decode_raw", b"div", b"get_collection",
    b"get_default_graph", b"get_variable", b"global_variables", b"global_variables_initializer",
    b"initialize_all_variables", b"is_nan", b"log", b"matrix_inverse", b"multinomial", b"nn.bidirectional_dynamic_rnn",
    b"nn.dynamic_rnn", b"parse_single_example", b"placeholder", b"placeholder_with_default", b"py_func", b"random_crop",
    b"random_normal", b"random_shuffle", b"random_uniform", b"read_file", b"reset_default_graph", b"set_random_seed",
    b"sparse_placeholder", b"sparse_tensor_dense_matmul", b"sparse_tensor_to_dense", b"sparse_to_dense",
    b"summary.FileWriter", b"summary.merge_all", b"to_float", b"to_int32", b"to_int64", b"train.Saver",
    b"train.Supervisor", b"trainable_variables", b"truncated_normal", b"truncated_normal_initializer",
    b"variable_scope",
)  # fmt: skip
"""Functions of ``tf`` that are in ``tf.compat.v1`` alone since 2.0 (seen in the names of both in 2.21)."""
_OF_KERAS_1 = (b"border_mode", b"subsample", b"dim_ordering", b"W_regularizer", b"inner_init", b"nb_filter", b"init")
"""Arguments of layers that Keras 2 renamed."""
_ROOMS_GONE_IN_2 = (b"contrib", b"flags", b"gfile", b"layers", b"logging", b"nn.rnn_cell", b"python_io")
"""Modules of ``tf`` that 2.0 dropped or left in ``tf.compat.v1`` (so in 2.21)."""
_GONE_IN_1 = (
    b"audio_summary", b"batch_matmul", b"histogram_summary", b"image_summary", b"merge_all_summaries", b"merge_summary",
    b"mul", b"neg", b"pack", b"scalar_summary", b"select", b"sub", b"train.SummaryWriter", b"unpack",
)  # fmt: skip
"""Functions of ``tf`` that 1.0 dropped (in tensorflow==0.12.1, not in tensorflow==1.0.0: ops/standard_ops.py,
ops/math_ops.py, ops/array_ops.py, training/training.py)."""
_INDENTED = rb"(?:(?:[ \t#][^\n]*)?\n)*?"
_FORWARD = _INDENTED + rb"(?<!@staticmethod\n)[ \t]+def forward\(self\b"
_LEGACY_FUNCTION = re.compile(
    rb"^class[ \t]+(?P<name>\w+)\((?:torch\.)?(?:autograd\.)?Function\)[ \t]*:[^\n]*\n"
    rb"(?:" + _INDENTED + rb"[ \t]+def __init__\(self\b[^\n]*\n" + _FORWARD
    + rb"|" + _FORWARD + rb"(?s:.{0,20000}?)\b(?P=name)\([^()\n]*\)\()", re.M,
)  # fmt: skip
"""One that is made with settings of its own, or called where it is made; others may run by `apply`, static or not."""
_SIGNS = (
    # `tf.concat(0, [...])`: 1.0 has the values first (ops/array_ops.py of 0.12.1 and 1.0.0).
    _Sign(
        "tensorflow", "<1.0",
        re.compile(rb"^[^#\n\"']*\b(tf\.(?:concat(?=\(-?\d[ ]?,)|(?:" + _any_of(_GONE_IN_1) + rb")(?=\()))", re.M),
        words=(b"tf.concat(", *(b"tf." + name + b"(" for name in _GONE_IN_1)),
        needs=b"import tensorflow as tf", without=(b"compat",),
    ),
    # `tf.concat(axis=1, values=[...])`, `tf.split(x, num_or_size_splits=2)`: the arguments of 1.0 (the same).
    _Sign(
        "tensorflow", ">=1.0",
        re.compile(
            rb"^[^#\n\"']*\b(tf\.concat\((?:axis|values)[ ]?=|tf\.split\([^()\n]*\bnum_or_size_splits[ ]?=)", re.M,
        ),
        words=(b"tf.concat(", b"num_or_size_splits"), needs=b"import tensorflow as tf", shown="arguments of 1.0",
    ),
    # Names that 2.0 moved to tf.compat.v1 or dropped (github.com/tensorflow/tensorflow/releases/tag/v2.0.0).
    _Sign(
        "tensorflow", "<2.0",
        re.compile(rb"^[ \t]*(?:from|import)[ \t]+(tensorflow\.(?:contrib|app|flags|examples))\b", re.M),
        words=(b"tensorflow.contrib", b"tensorflow.app", b"tensorflow.flags", b"tensorflow.examples"),
    ),
    _Sign(
        "tensorflow", "<2.0",
        re.compile(
            rb"^[^#\n\"']*\b(tf\.(?:(?:" + _any_of(_ROOMS_GONE_IN_2) + rb")\.\w+|app\.run"
            rb"|train\.\w+Optimizer(?=\()|(?:" + _any_of(_GONE_IN_2) + rb")(?=\()))", re.M,
        ),
        words=(
            b"tf.app.run", b"Optimizer(", *(b"tf." + name + b"." for name in _ROOMS_GONE_IN_2),
            *(b"tf." + name + b"(" for name in _GONE_IN_2),
        ), needs=b"import tensorflow as tf", without=(b"compat.v1", b"compat import", b"disable_v2_behavior"),
    ),
    # Sonnet 1 imports `tensorflow.contrib` (sonnet 1.36, modules/base.py); Sonnet 2 has none of these.
    _names("tensorflow", "<2.0", b"snt.AbstractModule", b"snt.RNNCellWrapper", b"snt.reuse_variables", needs=b"sonnet"),
    # The generator that all spaces shared is gone since 0.11 (gym 0.10.11 and 0.11.0: spaces/__init__.py).
    _names("gym", "<0.11", b"gym.spaces.prng", b"from gym.spaces import prng", b"spaces.prng.seed", needs=b"gym"),
    # Keras 2.3 was the first for TF 2, and lacks these with it: the names of Keras 1 for the order of an image's axes,
    # `Merge` and `merge`, the shape helper of the applications, the session (keras==2.1.6, 2.2.4, 2.2.5 and 2.3.1:
    # keras/backend/common.py, legacy/layers.py, applications/imagenet_utils.py, backend/tensorflow_backend.py).
    _Sign(
        "tensorflow", "<2.0", re.compile(rb"^[^#\n\"']*\b((?:K|backend)\.(?:set_)?image_dim_ordering)\b", re.M),
        (b"image_dim_ordering",), b"keras",
    ),
    _Sign(
        "tensorflow", "<2.0",
        re.compile(
            rb"^[ \t]*from[ \t]+keras\.(?:layers|engine)[\w.]*[ \t]+import[ \t]+(?:\([^)]*?|[^\n(]*?)\b(Merge)\b", re.M,
        ),
        words=(b"Merge",), needs=b"keras",
    ),
    _Sign(
        "tensorflow", "<2.0",
        re.compile(rb"^[^#\n\"']*(?<![\w.])(merge)\(\[[^\]]*\],[ ]*(?:\n[ ]*)?mode[ ]?=", re.M),
        words=(b"merge([",), needs=b"keras", shown="`merge` with `mode`",
    ),
    _Sign(
        "tensorflow", "<2.0",
        re.compile(rb"^from keras\.applications\.imagenet_utils import [^\n]*?(_obtain_input_shape)\b", re.M),
        words=(b"_obtain_input_shape",), needs=b"keras",
    ),
    _Sign(
        "tensorflow", "<2.0", re.compile(rb"^[^#\n\"']*\b((?:K|keras\.backend)\.[gs]et_session)(?=\()", re.M),
        words=(b".get_session(", b".set_session("), needs=b"keras", without=(b"compat", b"tensorflow.python.keras"),
    ),
    # Arguments of Keras 1 that Keras took until 2.3 (keras==2.3.1:keras/legacy/interfaces.py, engine/training.py).
    _Sign(
        "tensorflow", "<2.4",
        re.compile(
            rb"\b(?:\w*(?:Convolution|Deconvolution|Conv|Pooling)[123]D|Dense|LSTM|GRU|SimpleRNN)\("
            rb"(?:[^()#]|\([^()]*\))*?\b((?:" + _any_of(_OF_KERAS_1) + rb")[ ]?=)(?=[^=])"
        ),
        words=_OF_KERAS_1, needs=b"keras",
    ),
    _Sign(
        "tensorflow", "<2.4",
        re.compile(
            rb"\.fit(?:_generator)?\((?:[^()#]|\((?:[^()]|\([^()]*\))*\))*?"
            rb"\b((?:nb_epoch|samples_per_epoch|nb_val_samples)[ ]?=)(?=[^=])"
        ),
        words=(b"nb_epoch", b"samples_per_epoch", b"nb_val_samples"), needs=b"keras", without=(b"def fit",),
    ),
    _Sign(
        "tensorflow", "<2.4", re.compile(rb"^[^#\n\"']*\w\.(_keras_shape)\b", re.M), words=(b"._keras_shape",),
    ),
    # Modules that the keras wheels of these minor versions no longer hold (tf.keras is the keras of the same minor
    # version from 2.6 on; before, keras 2.3 was the last with modules of its own).
    _module("<2.4", b"objectives", b"legacy", b"backend.tensorflow_backend"),
    _module("<2.6", b"layers.normalization"),
    _module("<2.9", b"layers.advanced_activations", b"layers.recurrent", b"layers.merge", b"layers.embeddings"),
    _module("<2.13", b"engine", b"utils.np_utils", b"layers.core", b"layers.convolutional", b"layers.pooling"),
    # From 2.6 on `keras.engine` itself has no names, and its `topology` is gone (keras==2.4.3, keras==2.6.0).
    _names(
        "tensorflow", "<2.6", b"from keras.engine import Layer", b"from keras.engine import InputSpec",
        b"from keras.engine import Input", b"from keras.engine import Model", b"from keras.engine.topology import",
    ),
    # Keras took `input=` and `output=` of Keras 1 until 2.3 (keras==2.3.1:keras/legacy/interfaces.py).
    _Sign(
        "tensorflow", "<2.4", re.compile(rb"\bModel\([^()\n]*?\b((?:in|out)put[ ]?=)(?=[^=])"),
        words=(b"Model(",), needs=b"keras", without=(b"torch",),
    ),
    # The learning phase is something to feed in graphs alone (keras==2.3.1:keras/backend/tensorflow_backend.py).
    _Sign(
        "tensorflow", "<2.0", re.compile(rb"\b(K\.function)\([^#]{0,200}?\bK\.learning_phase\(\)[ ]?\]"),
        words=(b"K.learning_phase()",), needs=b"keras",
    ),
    # `lr` became `learning_rate` in 2.2.5 and went with Keras 3, that is TF 2.16 (keras==3.0.0:keras/optimizers).
    _Sign(
        "tensorflow", "<2.16",
        re.compile(rb"\b(?:Adam|SGD|RMSprop|Adagrad|Adadelta|Adamax|Nadam)\((?:[^()\n]*,[ ]?)?(lr[ ]?=)(?=[^=])"),
        words=(b"lr=", b"lr ="), needs=b"keras", without=(b"torch",),
    ),
    # TensorFlow Addons ended with TF 2.15 (github.com/tensorflow/addons, readme); Keras 3 came with TF 2.16.
    _Sign(
        "tensorflow", "<2.16", re.compile(rb"^[ \t]*(?:from|import)[ \t]+(tensorflow_addons)\b", re.M),
        words=(b"tensorflow_addons",),
    ),
    _Sign(
        "tensorflow", "<2.16", re.compile(rb"^[^#\n\"']*\b(fit_generator|multi_gpu_model)(?=\()", re.M),
        words=(b"fit_generator(", b"multi_gpu_model("),
    ),
    # Keras 3 has the optimizers of before only in name, and not these layers (keras==3.0.0:
    # keras/optimizers/__init__.py, keras/layers/__init__.py).
    _names(
        "tensorflow", "<2.16", b"tf.keras.optimizers.legacy.Optimizer", b"tf.keras.optimizers.legacy.Adam",
        b"tf.keras.optimizers.legacy.SGD", b"tf.keras.layers.experimental.SyncBatchNormalization",
        b"tf.keras.layers.DenseFeatures", b"tf.keras.layers.LocallyConnected1D", b"tf.keras.layers.LocallyConnected2D",
    ),
    # Gone with PyTorch 2.0, 1.8 and 0.5 (github.com/pytorch/pytorch, release notes of 2.0.0, 1.8.0 and 1.0.0).
    _Sign(
        "torch", "<2.0", re.compile(rb"^[ \t]*(?:from|import)[ \t]+(torch\._six)\b", re.M), words=(b"torch._six",),
    ),
    # Functions that raise since, or are gone (torch/_linalg_utils.py of 1.11 to 2.0, torch/__init__.pyi of 1.1, 1.2).
    *(
        _Sign(
            "torch", specifier, re.compile(rb"^[^#\n\"']*\b(torch\.(?:" + b"|".join(names) + rb"))(?=\()", re.M),
            words=tuple(b"torch." + name + b"(" for name in names),
        )
        for specifier, names in (
            ("<1.2", (b"gels", b"gesv", b"pstrf")), ("<1.12", (b"solve",)),
            ("<1.13", (b"eig", b"lstsq", b"matrix_rank")), ("<2.0", (b"symeig",)),
        )
    ),
    # `stft` must be told since 2.0 whether its result is complex (github.com/pytorch/pytorch/pull/86724).
    _Sign(
        "torch", "<2.0",
        re.compile(rb"^[^#\n\"']*\b(torch\.stft)\((?!(?:[^()]|\((?:[^()]|\([^()]*\))*\))*\*\*\w)", re.M),
        words=(b"torch.stft(",), without=(b"return_complex",), shown="`torch.stft` without `return_complex`",
    ),
    # Functions of autograd that are made and called need a static `forward` since 1.5 (what 1.4 and 1.5 say).
    _Sign(
        "torch", "<1.5", _LEGACY_FUNCTION,
        words=(b"Function)",), needs=b"torch", shown="functions of autograd whose `forward` is not static",
    ),
    _Sign(
        "torch", "<1.8", re.compile(rb"^[^#\n\"']*\b(torch\.(?:rfft|irfft|fft|ifft))(?=\()", re.M),
        words=(b"torch.rfft(", b"torch.irfft(", b"torch.fft(", b"torch.ifft("),
    ),
    # Modules that 1.0 refuses to import or lacks (github.com/pytorch/pytorch/issues/15645, pull/11823).
    _Sign(
        "torch", "<1.0", re.compile(rb"^[ \t]*(?:from|import)[ \t]+(torch\.(?:utils\.ffi|legacy))\b", re.M),
        words=(b"torch.utils.ffi", b"torch.legacy"),
    ),
    # torchvision 0.12, that is PyTorch 1.11, dropped these (github.com/pytorch/vision/pull/5386).
    _Sign(
        "torch", "<1.11", re.compile(rb"^[^#\n\"']*\b(transforms\.(?:Scale|RandomSizedCrop))(?=\()", re.M),
        words=(b"transforms.Scale(", b"transforms.RandomSizedCrop("), needs=b"torchvision",
    ),
    _Sign(
        "torch", "<1.0", re.compile(rb"^[^#\n\"']*\b(\w*loss\w*\.data\[0\]|volatile=True)", re.M),
        words=(b".data[0]", b"volatile=True"), needs=b"torch",
    ),
    # A program that refuses any other: `assert torch.__version__.split(".")[0] == "1"`.
    *(
        _Sign(
            package, "<2.0",
            re.compile(
                rb"^[ \t]*(assert[ \t]+" + name + rb"\.__version__"
                rb"(?:(?:\.split\([\"']\.[\"']\))?\[0\][ ]*==[ ]*[\"']1[\"']|\.startswith\([\"']1\.))", re.M,
            ),
            words=(b".__version__",), needs=package.encode(), anywhere=True,
        )
        for package, name in (("torch", rb"torch"), ("tensorflow", rb"(?:tf|tensorflow)"))
    ),
    # torchtext ended with 0.18, built for PyTorch 2.3; its 0.12 dropped `legacy` (github.com/pytorch/text, readme).
    _Sign(
        "torch", "<1.11", re.compile(rb"^[ \t]*(?:from|import)[ \t]+(torchtext\.legacy)\b", re.M),
        words=(b"torchtext.legacy",),
    ),
    _Sign(
        "torch", "<2.4", re.compile(rb"^[ \t]*(?:from|import)[ \t]+(torchtext)\b", re.M), words=(b"torchtext",),
    ),
    # tensorflow/estimator was taken out of TensorFlow in 2.16 (release notes of 2.16).
    _Sign(
        "tensorflow", "<2.16", re.compile(rb"^[^#\n\"']*\b(tf\.(?:compat\.v1\.)?estimator\.\w+)(?=\()", re.M),
        words=(b".estimator.",), anywhere=True,
    ),
    # Keras 3, that is TF 2.16, trains with eager execution alone (seen to raise RuntimeError with 2.21).
    _Sign(
        "tensorflow", "<2.16",
        re.compile(rb"^[^#\n\"']*\b(tf\.compat\.v1\.disable_(?:eager_execution|v2_behavior))(?=\()", re.M),
        words=(b"tf.compat.v1.disable_",),
        needs=b".compile(", anywhere=True,
    ),
    # Names that newer releases of a package lack, where the older ones have no wheels for newer Pythons: `async` is a
    # keyword since 3.7; SciPy 1.2 (3.7) was the last with images, scikit-learn 0.19 (3.7) and 0.22 (3.8) with these
    # modules; librosa 0.7, the last with `output`, needs a Numba before 0.50 (3.8) (files of the releases on pypi.org).
    _Sign(
        "python", "<3.7", re.compile(rb"^[^#\n\"']*\([^#()\n]*\b(async ?= ?(?:True|False))", re.M),
        words=(b"async=", b"async ="), needs=b"torch",
    ),
    _names(
        "python", "<3.8", b"scipy.misc.imread", b"scipy.misc.imresize", b"scipy.misc.imsave", b"scipy.misc.toimage",
        b"from scipy.misc import imread", b"from scipy.misc import imresize", b"from scipy.misc import imsave",
        b"from sklearn.cross_validation import", b"from sklearn.grid_search import", b"time.clock",
    ),
    _names("python", "<3.9", b"librosa.output.write_wav", b"from sklearn.externals import"),
    # NumPy's names for the types of Python went with 1.24 (`bool` came back in 2.0).
    _names(
        "numpy", "<1.24", b"np.int", b"np.float", b"np.object", b"np.complex", b"numpy.int", b"numpy.float",
        b"numpy.object", needs=b"numpy",
    ),
    # The transforms of imgaug went with 1.4 (in albumentations==1.3.1, not in albumentations==1.4.0: __init__.py).
    _Sign(
        "albumentations", "<1.4",
        re.compile(
            rb"^[^#\n\"']*\b(IAA(?:CropAndPad|Fliplr|Flipud|Emboss|Superpixels|Sharpen|AdditiveGaussianNoise|PiecewiseAffine|"
            rb"Affine|Perspective))\b", re.M,
        ),
        words=(b"IAA",), needs=b"albumentations", without=(b"class IAA",),
    ),
    # gensim 4.0 renamed these arguments (github.com/piskvorky/gensim/wiki/Migrating-from-Gensim-3.x-to-4).
    _Sign(
        "gensim", "<4",
        re.compile(
            rb"^[^#\n\"']*\b(?:Word2Vec|Doc2Vec|FastText)\((?:[^()#]|\([^()]*\))*?\b((?:size|iter)[ ]?=)(?=[^=])", re.M
        ),
        words=(b"size=", b"size =", b"iter=", b"iter ="), needs=b"gensim",
    ),
    # What came with a release (its release notes): a README that names an older one speaks of other code.
    _names("torch", ">=2.0", b"torch.compile", b"torch.nn.functional.scaled_dot_product_attention"),
    _names("torch", ">=1.9", b"torch.inference_mode"),
    _names("torch", ">=1.7", b"torch.backends.cudnn.allow_tf32", b"torch.backends.cuda.matmul.allow_tf32"),
    _names("torch", ">=1.6", b"torch.cuda.amp", b"from torch.cuda.amp import", b"from torch.cuda import amp"),
)  # fmt: skip
_ROOTS = (
    b"tensorflow", b"keras", b"torch", b"fit_generator(", b"multi_gpu_model(", b".estimator.", b"numpy", b"scipy",
    b"sklearn", b"librosa", b"sonnet", b"gym", b"gensim", b"albumentations", b"time.clock", b"tf.compat.v1.disable_",
)  # fmt: skip
"""One of them is in each file that has any of the signs: a quicker look than one for all their words."""
KEYS = tuple(dict.fromkeys([("python", "<3"), *((sign.package, sign.specifier) for sign in _SIGNS)]))
"""Packages and releases of all limits that there can be, of each package the tightest first."""


def limits(path: str, data: bytes) -> Iterator[Limit]:
    """What the names used in one file, and its Python, say about releases."""
    yield from _of_python2(path, data)
    if not any(word in data for word in _ROOTS):
        return
    for sign in _SIGNS:
        if sign.needs not in data or any(word in data for word in sign.without):
            continue
        if not any(word in data for word in sign.words):
            continue
        found = sign.pattern.finditer(data)
        match = next((one for one in found if sign.anywhere or not _is_tried(data, one.start(1))), None)
        if match is not None:
            line = data.count(b"\n", 0, match.start(1)) + 1
            newest = "newest Python that has" if sign.package == "python" else "newest release with"
            reason = f"{newest} {sign.shown or f'`{match[1].decode()}`'} ({path}:{line})"
            yield Limit(sign.package, sign.specifier, reason)


_ASKS = re.compile(rb"(?:el)?if\b.*(?:version|hasattr|\b(?:is_)?tf_?[12]|compat)", re.IGNORECASE)
_TRY, _LACKS = re.compile(rb"try\s*:"), rb"except\b[^\n]*\b(?:Import|ModuleNotFound|Attribute|Name|Type)Error"
_BRANCHES = (b"else", b"elif", b"except", b"finally")


def _is_tried(data: bytes, at: int) -> bool:
    """Whether a place stands under a test of a version, or a ``try`` for a name that may be missing."""
    first = data.rfind(b"\n", 0, at) + 1
    depth, branch = _depth(data[first : at + 1]), False
    for line in reversed(data[:first].splitlines()):
        text = line.lstrip()
        if not text or text.startswith(b"#"):
            continue
        own = _depth(line)
        if own < depth or (branch and own == depth):
            if _ASKS.match(text) or re.match(_LACKS, text) or (_TRY.match(text) and _is_for_lack(data, at, own)):
                return True
            depth, branch = own, text.startswith(_BRANCHES)
        if depth == 0 and not branch:
            return False
    return False


def _is_for_lack(data: bytes, at: int, depth: int) -> bool:
    """Whether a ``try`` of this depth, in which a place stands, is one for names that may be missing."""
    ends = re.compile(rb"^[ \t]{%d}except\b" % depth, re.M).search(data, at)
    return ends is not None and re.compile(_LACKS).search(data, ends.start(), data.find(b"\n", ends.end())) is not None


def _depth(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _of_python2(path: str, data: bytes) -> Iterator[Limit]:
    statement = _PYTHON2.search(data) if b"print " in data or b"except " in data else None
    if path.endswith(NOTEBOOK):
        return
    from d9mlint.python.source.parsing import is_python2, mixed_tabs

    if (mixed := mixed_tabs(data)) is not None:
        yield Limit("python", "<3", f"a block with tabs and with spaces ({path}:{mixed})")
    elif statement is not None and is_python2(data):
        shown = (statement[1] or statement[2]).decode("utf-8", "replace")
        line = data.count(b"\n", 0, statement.start()) + 1
        yield Limit("python", "<3", f"`{shown}` without parentheses ({path}:{line})")
