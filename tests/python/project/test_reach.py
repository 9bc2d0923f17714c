"""What import lines tell: the files of an entry, and the releases that a program can run on."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.python.project.importlines import import_lines
from d9mlint.python.project.reach import Reach
from d9mlint.python.project.signs import _ROOTS, _SIGNS
from d9mlint.python.source.reading import disk_reader


def tree(folder: Path, files: dict[str, str]) -> Reach:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Reach(disk_reader(folder, folder), folder)


def test_the_files_of_an_entry(tmp_path: Path) -> None:
    reach = tree(
        tmp_path,
        {
            "train.py": "import os, helpers.seeds as s\nfrom models import (\n    net,  # the network\n    other as o)\n",
            "helpers/seeds.py": "from . import clock\n",
            "helpers/clock.py": "",
            "models/__init__.py": "from .base import Base\n",
            "models/base.py": "import numpy\n",
            "models/net.py": "from ..models.base import Base\nfrom .. import train\n",
            "unused.py": "",
        },
    )
    assert sorted(reach.files("train.py", ("",))) == [
        "helpers/clock.py", "helpers/seeds.py", "models/__init__.py", "models/base.py", "models/net.py", "train.py",
    ]  # fmt: skip


def test_imports_are_looked_for_in_the_roots_in_their_order(tmp_path: Path) -> None:
    reach = tree(tmp_path, {"a/train.py": "import util\n", "a/util.py": "", "src/util.py": "", "src/only.py": ""})
    assert reach.files("a/train.py", ("a", "src")) == ("a/train.py", "a/util.py")
    assert reach.files("a/train.py", ("src", "a")) == ("a/train.py", "src/util.py")


def test_nothing_outside_of_the_tree_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("import nothing\n", encoding="utf-8")
    inside = tmp_path / "inside"
    reach = tree(inside, {"train.py": "from .. import secret\nimport linked\n"})
    (inside / "linked.py").symlink_to(tmp_path / "secret.py")
    assert reach.limits(reach.files("train.py", ("", ".."))) == []


def test_names_that_a_package_lost_before_their_module(tmp_path: Path) -> None:
    found = tree(tmp_path, {"train.py": "from keras.engine import Layer\n"}).limits(["train.py"])
    assert {limit.specifier for limit in found} == {"<2.6", "<2.13"}


@pytest.mark.parametrize(
    ("text", "specifier", "name"),
    [
        ("import tensorflow as tf\nx = tf.placeholder(tf.float32)\n", "<2.0", "tf.placeholder"),
        ("import tensorflow as tf\nx = tf.concat(0, [a, b])\n", "<1.0", "tf.concat"),
        ("import tensorflow as tf\ns = tf.histogram_summary('x', x)\n", "<1.0", "tf.histogram_summary"),
        ("import tensorflow as tf\nw = tf.train.SummaryWriter('logs')\n", "<1.0", "tf.train.SummaryWriter"),
        ("from tensorflow.contrib import slim\n", "<2.0", "tensorflow.contrib"),
        ("import tensorflow as tf\nm = tf.estimator.Estimator(f)\n", "<2.16", "tf.estimator.Estimator"),
        ("from keras.engine.training import Model\n", "<2.13", "keras.engine"),
        ("from keras.layers.merge import add\n", "<2.9", "keras.layers.merge"),
        ("import tensorflow_addons as tfa\n", "<2.16", "tensorflow_addons"),
        ("import keras\nmodel.fit_generator(g)\n", "<2.16", "fit_generator"),
        (
            "import tensorflow as tf\nx = tf.keras.layers.DenseFeatures(c)(i)\n",
            "<2.16",
            "tf.keras.layers.DenseFeatures",
        ),
        ("from keras import backend as K\nf = K.function([x, K.learning_phase()], [y])\n", "<2.0", "K.function"),
        ("from keras.models import Model\nm = Model(input=a, outputs=b)\n", "<2.4", "input="),
        ("from keras import optimizers\no = optimizers.Adam(lr=1e-3)\n", "<2.16", "lr="),
        ("import sonnet as snt\nclass Net(snt.AbstractModule): ...\n", "<2.0", "snt.AbstractModule"),
        ("from keras import backend as K\nK.set_image_dim_ordering('tf')\n", "<2.0", "K.set_image_dim_ordering"),
        ("from keras.layers import (\n    Dense, Merge)\n", "<2.0", "Merge"),
        ("from keras import layers\nx = merge([a, b], mode='concat')\n", "<2.0", "merge` with `mode"),
        (
            "from keras.applications.imagenet_utils import _obtain_input_shape\n",
            "<2.0",
            "_obtain_input_shape",
        ),
        ("from keras import backend as K\nsession = K.get_session()\n", "<2.0", "K.get_session"),
        ("import keras\nx = Convolution2D(64, 3, 3,\n    border_mode='same')(x)\n", "<2.4", "border_mode="),
        ("import keras\nx = Dense(64, init=normal(0))(x)\n", "<2.4", "init="),
        ("import keras\nmodel.fit(f(x), y, nb_epoch=3)\n", "<2.4", "nb_epoch="),
        ("import keras\nn = x._keras_shape[1]\n", "<2.4", "_keras_shape"),
        ("from tensorflow.examples.tutorials.mnist import input_data\n", "<2.0", "tensorflow.examples"),
        ("import tensorflow as tf\nx = tf.layers.dense(x, 4)\n", "<2.0", "tf.layers.dense"),
        ("import tensorflow as tf\ntf.logging.set_verbosity(level)\n", "<2.0", "tf.logging.set_verbosity"),
        (
            "import tensorflow as tf\nfrom tensorflow.python.util import compat\nsession = tf.Session()\n",
            "<2.0",
            "tf.Session",
        ),
    ],
)
def test_names_that_only_old_releases_have(tmp_path: Path, text: str, specifier: str, name: str) -> None:
    (limit,) = tree(tmp_path, {"train.py": text}).limits(["train.py"])
    line = 1 + text[: text.index(name.removeprefix("tensorflow.").partition("`")[0])].count("\n")
    assert (limit.package, limit.specifier) == ("tensorflow", specifier)
    assert f"`{name}` (train.py:{line})" in limit.reason


@pytest.mark.parametrize("call", ["tf.concat(axis=0, values=[a, b])", "tf.split(a, num_or_size_splits=2)"])
def test_arguments_that_came_with_tensorflow_1(tmp_path: Path, call: str) -> None:
    (limit,) = tree(tmp_path, {"train.py": f"import tensorflow as tf\nx = {call}\n"}).limits(["train.py"])
    assert (limit.package, limit.specifier) == ("tensorflow", ">=1.0")


LEGACY = """\
from torch.autograd import Function


class Double(Function):
    {}
    def forward(self, x):
        return 2 * x

    def backward(self, gradient):
        return 2 * gradient


def double(x):
    return {}
"""


@pytest.mark.parametrize(
    ("text", "specifier"),
    [
        ("from torch._six import inf\n", "<2.0"),
        ("import torch\ne, v = torch.symeig(x)\n", "<2.0"),
        ("import torch\nx, _ = torch.solve(b, a)\n", "<1.12"),
        ("import torch\nx, _ = torch.lstsq(b, a)\n", "<1.13"),
        ("import torch\nx, _ = torch.gels(b, a)\n", "<1.2"),
        ("import torch\nre, im = torch.stft(x, 64, window=torch.hann_window(int(64))).unbind(-1)\n", "<2.0"),
        (LEGACY.format("", "Double()(x)"), "<1.5"),
        (LEGACY.format("def __init__(self, twice):\n        self.twice = twice\n", "x"), "<1.5"),
        ("import torch\nprint(loss.data[0])\n", "<1.0"),
        ("from torch.utils.ffi import create_extension\n", "<1.0"),
        ("from torch.legacy import nn\n", "<1.0"),
        ("from torchvision import transforms\nt = transforms.Scale(224)\n", "<1.11"),
        ("import torch\nx = torch.rfft(x, 1)\n", "<1.8"),
        ("import torch\nassert torch.__version__.split('.')[0] == '1'\n", "<2.0"),
        ("import torch\nassert torch.__version__.startswith('1.')\n", "<2.0"),
        ("import torch\nassert torch.__version__[0] == '1', 'too new'\n", "<2.0"),
    ],
)
def test_names_that_only_old_releases_of_torch_have(tmp_path: Path, text: str, specifier: str) -> None:
    (limit,) = tree(tmp_path, {"train.py": text}).limits(["train.py"])
    assert (limit.package, limit.specifier) == ("torch", specifier)


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow.compat.v1 as tf\nx = tf.placeholder(tf.float32)\n",
        "import tensorflow as tf\ntf = tf.compat.v1\nx = tf.placeholder(tf.float32)\n",
        "import tensorflow as tf\n# x = tf.placeholder(tf.float32)\n",
        "import tensorflow as tf\nprint('tf.Session() is gone')\n",
        "import tensorflow as tf\nx = tf.concat([a, b], 0)\ny = tf.subtract(x, tf.stack([a]))\n",
        "from keras.layers import Dense\n",
        "import keras\nif hasattr(K, 'image_dim_ordering'):\n    order = K.image_dim_ordering()\n",
        "from keras.layers import (Dense)\nfrom own import Merge\n",
        "import keras\nx = block(x, border_mode='same', nb_filter=3, init='normal')\ny = Dense(3)(init(x, init=3))\n",
        "import keras\ndef fit(x, nb_epoch):\n    model.fit(x)\nown.fit(nb_epoch=3)\n",
        "from tensorflow.compat.v1.keras import backend as K\nK.set_session(s)\n",
        "import torch\nx = torch.stft(y, 64, return_complex=False)\n",
        "import torch\nx = torch.stft(y, 64, **options)\n",
        "import torch\nif TORCH.version > 1:\n    x = torch.stft(y, 64)\n",
        LEGACY.format("@staticmethod", "Double()(x)"),
        LEGACY.format("", "Double.apply(x)"),
    ],
)
def test_names_that_new_releases_have_too(tmp_path: Path, text: str) -> None:
    assert tree(tmp_path, {"train.py": text}).limits(["train.py"]) == []


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("import librosa\nlibrosa.output.write_wav(path, x, 22050)\n", ("python", "<3.9")),
        ("from scipy.misc import imread\n", ("python", "<3.8")),
        ("import time\nstart = time.clock()\n", ("python", "<3.8")),
        ("import torch\nx = x.cuda(async=True)\n", ("python", "<3.7")),
        ("import numpy as np\nx = y.astype(np.int)\n", ("numpy", "<1.24")),
        ("import albumentations as A\naugment = A.Compose([A.IAASharpen(p=1)])\n", ("albumentations", "<1.4")),
        ("from gym.spaces import prng\nprng.seed(1)\n", ("gym", "<0.11")),
        ("import torch\ntorch.backends.cudnn.allow_tf32 = False\n", ("torch", ">=1.7")),
        (
            "import tensorflow as tf\ntf.compat.v1.disable_eager_execution()\nmodel.compile('adam', 'mse')\n",
            ("tensorflow", "<2.16"),
        ),
    ],
)
def test_names_that_bound_python_and_other_packages(tmp_path: Path, text: str, limit: tuple[str, str]) -> None:
    assert [(one.package, one.specifier) for one in tree(tmp_path, {"train.py": text}).limits(["train.py"])] == [limit]


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nx = y.astype(np.int_) + np.int64(1) + np.float32(1)\n",
        "import time\nstart = time.clock_gettime(0)\n",
        "import albumentations as A\naugment = A.Compose([A.Sharpen(p=1)])  # was A.IAASharpen\n",
        "import librosa\nprint('librosa.output.write_wav')  # librosa.output.write_wav(path, x, 22050)\n",
        "import tensorflow as tf\ntf.compat.v1.disable_eager_execution()\nsession = tf.compat.v1.Session()\n",
    ],
)
def test_names_that_bound_nothing(tmp_path: Path, text: str) -> None:
    assert tree(tmp_path, {"train.py": text}).limits(["train.py"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "def div(x, y):\n    try:\n        return tf.div(x, y)\n    except AttributeError:\n        return tf.divide(x, y)\n",
        "try:\n    tf.enable_v2_behavior()\nexcept AttributeError:\n    x = tf.log(y)\n",
        "if tf.__version__ >= '2':\n    x = tf.math.log(y)\nelse:\n    # the old name\n    x = tf.log(y)\n",
        "if IS_TF2:\n    pass\nelif old:\n\n    x = tf.reshape(\n        tf.log(y), [1])\n",
    ],
)
def test_names_in_one_branch_of_two_bound_nothing(tmp_path: Path, text: str) -> None:
    assert tree(tmp_path, {"train.py": f"import tensorflow as tf\n{text}"}).limits(["train.py"]) == []


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    x = tf.log(y)\nexcept KeyboardInterrupt:\n    pass\n",
        "if tf.__version__ >= '2':\n    pass\nx = tf.log(y)\n",
        "try:\n    import json\nexcept ImportError:\n    pass\ndef f(y):\n    return tf.log(y)\n",
        "try:\n    x = tf.div(x, y)\nexcept AttributeError:\n    pass\nx = tf.log(y)\n",
    ],
)
def test_names_outside_of_a_test_for_releases_bound_them(tmp_path: Path, text: str) -> None:
    found = tree(tmp_path, {"train.py": f"import tensorflow as tf\n{text}"}).limits(["train.py"])
    assert [(one.package, one.specifier) for one in found] == [("tensorflow", "<2.0")]


def test_the_tightest_limit_comes_first(tmp_path: Path) -> None:
    files = {"a.py": "import tensorflow_addons\n", "b.py": "import tensorflow.contrib\n"}
    assert [x.specifier for x in tree(tmp_path, files).limits(sorted(files))] == ["<2.0", "<2.16"]


@given(st.binary(max_size=400))
def test_any_bytes_can_be_read(data: bytes) -> None:
    for level, module, names in import_lines(data):
        assert level >= 0
        assert isinstance(module, str)
        assert all(isinstance(name, str) for name in names)


def test_limits_of_two_packages_do_not_hide_each_other(tmp_path: Path) -> None:
    reach = tree(
        tmp_path,
        {"a.py": "import torchtext\nfrom keras.layers.normalization import X\nimport tensorflow_addons\n", "b.py": ""},
    )
    shown = [(one.package, one.specifier) for one in reach.limits(["a.py", "b.py"])]
    assert shown == [("tensorflow", "<2.6"), ("tensorflow", "<2.16"), ("torch", "<2.4")]
    assert reach.limits(["b.py"]) == []
    assert reach.packages(["a.py"]) == {"torchtext", "keras", "tensorflow_addons"}


def test_the_quick_look_misses_no_sign_of_a_release() -> None:
    for sign in _SIGNS:
        needed = bool(sign.needs) and any(root in sign.needs for root in _ROOTS)
        assert needed or all(any(root in text for root in _ROOTS) for text in sign.words)


def test_the_standard_library_beside_a_program_is_no_part_of_it(tmp_path: Path) -> None:
    reach = tree(
        tmp_path,
        {
            "os.py": "",  # by this file Python finds its standard library
            "json.py": "import random\n",
            "random.py": "",
            "editor/__init__.py": "",
            "editor/main.py": "import json\nfrom editor import keys\nfrom . import marks\n",
            "editor/keys.py": "import random\n",
            "editor/marks.py": "",
        },
    )
    found = ["editor/__init__.py", "editor/keys.py", "editor/main.py", "editor/marks.py"]
    assert sorted(reach.files("editor/main.py", ("editor", ""))) == found


@pytest.mark.parametrize("line", ["print 'done'", "print total", "try:\n    f()\nexcept IOError, e:\n    pass"])
def test_what_only_python_2_reads_tells_the_python_whatever_file_it_is_in(tmp_path: Path, line: str) -> None:
    files = {"train.py": "import torch\nimport helpers\n", "helpers.py": f"total = 1\n{line}\n"}
    (limit,) = tree(tmp_path, files).limits(sorted(files))
    assert (limit.package, limit.specifier) == ("python", "<3")
    assert "(helpers.py:" in limit.reason


def test_python_2_in_quotes_tells_nothing(tmp_path: Path) -> None:
    files = {"train.py": 'import torch\n"""\nprint total\nexcept IOError, e:\n"""\n'}
    assert tree(tmp_path, files).limits(["train.py"]) == []
