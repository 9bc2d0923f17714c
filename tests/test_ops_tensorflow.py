"""The catalogue of TensorFlow ops: its shape, NVIDIA's 55 rows, and boundaries taken from NVIDIA's notes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import read_yaml
from packaging.specifiers import SpecifierSet
from packaging.version import Version

FILE = Path(__file__).parents[1] / "rules" / "ops" / "tensorflow.yaml"
CATALOGUE: dict[str, Any] = read_yaml(FILE)
OPS: dict[str, dict[str, Any]] = {op["op"]: op for op in CATALOGUE["ops"]}

KEYS = {"op", "calls", "direction", "devices", "when", "common", "why", "status", "sources"}
CASES = {"where", "case", "cases", "no_case"}
STATUS_KEYS = {"versions", "default", "deterministic_mode", "remedy"}
DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
KEYWORD = re.compile(r"[A-Za-z_]\w*(@\d+)?")
PACKAGES = {
    "horovod",
    "keras",
    "sonnet",
    "tensorflow",
    "tensorflow_addons",
    "tensorflow_model_optimization",
    "tf_slim",
}
MINORS = (*(f"1.{n}" for n in range(3, 16)), *(f"2.{n}" for n in range(22)))
VERSIONS = tuple(Version(f"{minor}.{patch}") for minor in MINORS for patch in (0, 1, 4))
NO_SWITCH = tuple(version for version in VERSIONS if version < Version("1.14"))

XENT = "tf.nn.softmax_cross_entropy_with_logits"
SPARSE_XENT = "tf.nn.sparse_softmax_cross_entropy_with_logits"

TABLE = "NVIDIA/framework-reproducibility:doc/d9m/tensorflow_status.md#"

# The rows of the summary table in doc/d9m/tensorflow_status.md: source, direction there, entry here.
ROWS = (
    ("Auto-tuning of cuDNN convolution algorithms", "", "cuDNN convolution autotuning"),
    ("tfa.image.dense_image_warp", "backward", "tfa.image.dense_image_warp"),
    ("tf.compat.v1.nn.fused_batch_norm", "backward", "tf.compat.v1.nn.fused_batch_norm"),
    ("tf.compat.v1.scatter_nd_update", "forward", "tf.compat.v1.scatter_nd_update"),
    ("tf.convert_to_tensor, for tf.IndexedSlices", "forward", "tf.convert_to_tensor of tf.IndexedSlices"),
    ("tf.gather", "backward", "tf.gather"),
    ("tf.keras.layers.BatchNormalization", "backward", "tf.keras.layers.BatchNormalization"),
    ("tf.keras.layers.Conv1D", "backward", "tf.keras.layers.Conv1D"),
    ("tf.keras.layers.Conv2D", "backward", "tf.keras.layers.Conv2D"),
    ("tf.keras.layers.Conv3D", "backward", "tf.keras.layers.Conv3D"),
    ("tf.keras.layers.DepthwiseConv2D", "backward", "tf.keras.layers.DepthwiseConv2D"),
    ("tf.keras.layers.MaxPool1D", "backward", "tf.keras.layers.MaxPool1D"),
    ("tf.keras.layers.MaxPool2D", "backward", "tf.keras.layers.MaxPool2D"),
    ("tf.keras.layers.MaxPool3D", "backward", "tf.keras.layers.MaxPool3D"),
    (
        "tf.keras.layers.UpSampling2D, interpolation='bilinear'",
        "backward",
        "tf.keras.layers.UpSampling2D with bilinear interpolation",
    ),
    (
        "tf.keras.layers.UpSampling2D, interpolation='nearest'",
        "backward",
        "tf.keras.layers.UpSampling2D with nearest-neighbour interpolation",
    ),
    ("tf.keras.losses.categorical_crossentropy", "both", "tf.keras.losses.categorical_crossentropy"),
    ("tf.keras.losses.CategoricalCrossentropy", "both", "tf.keras.losses.CategoricalCrossentropy"),
    ("tf.keras.losses.sparse_categorical_crossentropy", "both", "tf.keras.losses.sparse_categorical_crossentropy"),
    ("tf.keras.losses.SparseCategoricalCrossentropy", "both", "tf.keras.losses.SparseCategoricalCrossentropy"),
    ("tf.image.adjust_contrast", "forward", "tf.image.adjust_contrast"),
    ("tf.image.crop_and_resize", "backward", "tf.image.crop_and_resize"),
    ("tf.image.resize, method=BILINEAR", "backward", "tf.image.resize with bilinear interpolation"),
    ("tf.image.resize, method=NEAREST", "backward", "tf.image.resize with nearest-neighbour interpolation"),
    ("tf.math.bincount", "", "tf.math.bincount"),
    ("tf.math.segment_prod", "forward", "tf.math.segment_prod"),
    ("tf.math.segment_sum", "forward", "tf.math.segment_sum"),
    ("tf.math.unsorted_segment_mean", "forward", "tf.math.unsorted_segment_mean"),
    ("tf.math.unsorted_segment_prod", "forward", "tf.math.unsorted_segment_prod"),
    ("tf.math.unsorted_segment_sqrt_n", "forward", "tf.math.unsorted_segment_sqrt_n"),
    ("tf.math.unsorted_segment_sum", "forward", "tf.math.unsorted_segment_sum"),
    ("tf.nn.bias_add", "backward", "tf.nn.bias_add"),
    ("tf.nn.conv1d", "backward", "tf.nn.conv1d"),
    ("tf.nn.conv2d", "backward", "tf.nn.conv2d"),
    ("tf.nn.conv3d", "backward", "tf.nn.conv3d"),
    ("tf.nn.ctc_loss", "backward", "tf.nn.ctc_loss"),
    ("tf.nn.depthwise_conv2d", "backward", "tf.nn.depthwise_conv2d"),
    ("tf.nn.max_pool1d", "backward", "tf.nn.max_pool1d"),
    ("tf.nn.max_pool2d", "backward", "tf.nn.max_pool2d"),
    ("tf.nn.max_pool3d", "backward", "tf.nn.max_pool3d"),
    ("tf.nn.softmax_cross_entropy_with_logits", "", XENT),
    ("tf.nn.sparse_softmax_cross_entropy_with_logits", "", SPARSE_XENT),
    ("tf.raw_ops.DebugNumericSummaryV2", "", "tf.raw_ops.DebugNumericSummaryV2"),
    ("tf.scatter_nd", "forward", "tf.scatter_nd"),
    ("tf.sparse.sparse_dense_matmul", "forward", "tf.sparse.sparse_dense_matmul"),
    ("tf.tensor_scatter_nd_add", "forward", "tf.tensor_scatter_nd_add"),
    ("tf.tensor_scatter_nd_sub", "forward", "tf.tensor_scatter_nd_sub"),
    ("tf.tensor_scatter_nd_update", "forward", "tf.tensor_scatter_nd_update"),
    ("XLA reductions on GPU", "", "XLA reductions on GPU"),
    ("XLA Scatter on GPU", "", "XLA scatter on GPU"),
)

# (entry, version, default, mode of the switch); default "" = not affected. From the detailed notes of that file.
BOUNDARIES = (
    ("cuDNN convolution autotuning", "1.13.1", "varies", "varies"),
    ("cuDNN convolution autotuning", "1.14.0", "varies", "same"),
    ("tf.keras.layers.Conv2D", "1.13.1", "varies", "varies"),
    ("tf.keras.layers.Conv2D", "2.0.0", "varies", "same"),
    ("tf.keras.layers.Conv2D", "2.21.0", "varies", "same"),
    ("tf.nn.max_pool2d", "1.14.0", "varies", "same"),
    ("tf.nn.bias_add", "1.13.2", "varies", "varies"),
    ("tf.nn.bias_add", "1.15.0", "varies", "same"),
    ("tf.nn.bias_add", "2.1.0", "varies", "same"),
    ("tf.keras.layers.DepthwiseConv2D", "2.6.0", "varies", "varies"),
    ("tf.keras.layers.DepthwiseConv2D", "2.7.0", "varies", "raises"),
    ("tf.keras.layers.DepthwiseConv2D", "2.9.3", "varies", "raises"),
    ("tf.keras.layers.DepthwiseConv2D", "2.10.0", "varies", "same"),
    ("tf.nn.depthwise_conv2d", "2.8.0", "varies", "raises"),
    ("tf.image.resize with bilinear interpolation", "2.3.0", "varies", "varies"),
    ("tf.image.resize with bilinear interpolation", "2.4.0", "varies", "same"),
    ("tf.image.resize with nearest-neighbour interpolation", "2.6.0", "varies", "varies"),
    ("tf.image.resize with nearest-neighbour interpolation", "2.7.0", "varies", "raises"),
    ("tf.image.resize with nearest-neighbour interpolation", "2.21.0", "varies", "raises"),
    ("tf.keras.layers.UpSampling2D with nearest-neighbour interpolation", "2.15.0", "varies", "raises"),
    ("tf.keras.layers.UpSampling2D with nearest-neighbour interpolation", "2.16.1", "", ""),
    (XENT, "2.5.0", "varies", "varies"),
    (XENT, "2.6.0", "varies", "same"),
    (SPARSE_XENT, "2.5.0", "varies", "varies"),
    (SPARSE_XENT, "2.6.0", "varies", "raises"),
    (SPARSE_XENT, "2.7.0", "varies", "same"),
    ("tf.keras.losses.SparseCategoricalCrossentropy", "2.6.0", "varies", "raises"),
    ("tf.compat.v1.nn.fused_batch_norm", "2.6.0", "varies", "varies"),
    ("tf.compat.v1.nn.fused_batch_norm", "2.7.0", "varies", "raises"),
    ("tf.image.adjust_contrast", "2.6.0", "varies", "varies"),
    ("tf.image.adjust_contrast", "2.7.0", "varies", "raises"),
    ("tf.image.adjust_contrast", "2.21.0", "varies", "raises"),
    ("tf.image.crop_and_resize", "2.5.0", "varies", "varies"),
    ("tf.image.crop_and_resize", "2.6.0", "varies", "raises"),
    ("tf.image.crop_and_resize on the CPU", "2.5.0", "varies", "varies"),
    ("tf.image.crop_and_resize on the CPU", "2.6.0", "varies", "same"),
    ("tf.math.bincount", "2.6.0", "varies", "varies"),
    ("tf.math.bincount", "2.7.0", "varies", "raises"),
    ("tf.math.segment_sum", "2.4.1", "varies", "varies"),
    ("tf.math.segment_sum", "2.5.0", "varies", "raises"),
    ("tf.math.segment_sum", "2.6.0", "varies", "raises"),
    ("tf.math.segment_sum", "2.7.0", "varies", "same"),
    ("tf.math.segment_sum", "2.21.0", "varies", "same"),
    ("tf.math.segment_mean", "2.6.0", "", ""),
    ("tf.math.segment_mean", "2.7.0", "varies", "same"),
    ("tf.gather", "2.4.1", "varies", "varies"),
    ("tf.gather", "2.6.0", "varies", "raises"),
    ("tf.gather", "2.7.0", "varies", "same"),
    ("tf.nn.ctc_loss", "2.5.0", "varies", "varies"),
    ("tf.nn.ctc_loss", "2.6.0", "varies", "same"),
    ("tf.raw_ops.DebugNumericSummaryV2", "2.7.0", "varies", "raises"),
    ("tf.sparse.sparse_dense_matmul", "2.5.0", "varies", "varies"),
    ("tf.sparse.sparse_dense_matmul", "2.6.0", "varies", "raises"),
    ("tf.scatter_nd", "2.6.0", "varies", "varies"),
    ("tf.scatter_nd", "2.7.0", "varies", "same"),
    ("XLA reductions on GPU", "2.1.0", "varies", "varies"),
    ("XLA reductions on GPU", "2.2.0", "varies", "same"),
    ("XLA scatter on GPU", "2.7.0", "varies", "varies"),
    ("XLA scatter on GPU", "2.8.0", "varies", "same"),
    ("tf.reduce_sum on the GPU", "1.3.0", "varies", "varies"),
    ("tf.reduce_sum on the GPU", "1.4.0", "", ""),
    ("tf.nn.moments on the GPU", "1.3.0", "varies", "varies"),
    ("tf.nn.moments on the GPU", "1.4.0", "", ""),
)


def status(name: str, version: str | Version) -> dict[str, str] | None:
    """The first entry whose versions fit, as the program reads it."""
    for entry in OPS[name]["status"]:
        if SpecifierSet(entry["versions"]).contains(str(version)):
            return dict(entry)
    return None


def test_the_file_is_a_catalogue_of_tensorflow() -> None:
    assert set(CATALOGUE) == {"framework", "ops"}
    assert CATALOGUE["framework"] == "tensorflow"
    assert len(OPS) == len(CATALOGUE["ops"]), "op names must be unique"


@pytest.mark.parametrize("name", OPS)
def test_every_op_has_the_schema(name: str) -> None:
    op = OPS[name]
    assert set(op) <= KEYS | CASES
    assert KEYS - {"when"} <= set(op)
    assert op["direction"] in {"forward", "backward", "both"}
    assert op["devices"]
    assert set(op["devices"]) <= {"gpu", "cpu"}
    assert isinstance(op["common"], bool)
    assert op["why"].strip().endswith(".")
    assert op["sources"]
    assert all(isinstance(source, str) and source for source in op["sources"])


@pytest.mark.parametrize("name", OPS)
def test_the_calls_are_canonical_names(name: str) -> None:
    calls = OPS[name]["calls"]
    assert len(calls) == len(set(calls))
    for call in calls:
        assert DOTTED.fullmatch(call), call
        assert call.split(".")[0] in PACKAGES, call
        assert not call.startswith(("tensorflow.keras.", "tensorflow.compat.v2.")), call


@pytest.mark.parametrize("name", OPS)
def test_the_keyword_tests_can_be_read(name: str) -> None:
    for key, test in OPS[name].get("when", {}).items():
        assert KEYWORD.fullmatch(key), key
        wanted = test["not"] if isinstance(test, dict) else test
        assert not isinstance(test, dict) or set(test) == {"not"}
        for value in wanted if isinstance(wanted, list) else [wanted]:
            assert value is None or isinstance(value, (str, int, bool)), value


@pytest.mark.parametrize("name", OPS)
def test_every_status_can_be_read_and_reached(name: str) -> None:
    entries = OPS[name]["status"]
    assert entries
    used = {entry["versions"] for version in VERSIONS if (entry := status(name, version))}
    for entry in entries:
        assert set(entry) == STATUS_KEYS
        assert entry["default"] in {"varies", "same"}
        assert entry["deterministic_mode"] in {"same", "raises", "varies"}
        assert (entry["default"], entry["deterministic_mode"]) != ("same", "same"), "not affected: leave it out"
        assert entry["remedy"].strip().endswith("."), entry["versions"]
        assert entry["versions"] in used, f"{entry['versions']} is never the first to fit"
    assert len({entry["versions"] for entry in entries}) == len(entries)


@pytest.mark.parametrize("name", OPS)
def test_no_version_fits_two_entries(name: str) -> None:
    specifiers = [SpecifierSet(entry["versions"]) for entry in OPS[name]["status"]]
    for version in VERSIONS:
        assert sum(specifier.contains(str(version)) for specifier in specifiers) <= 1, version


@pytest.mark.parametrize("name", OPS)
def test_before_1_14_there_is_no_switch(name: str) -> None:
    for version in NO_SWITCH:
        found = status(name, version)
        assert found is None or found["deterministic_mode"] == "varies", version


@pytest.mark.parametrize("name", OPS)
def test_a_remedy_names_only_the_switch_of_its_versions(name: str) -> None:
    for version in VERSIONS:
        found = status(name, version)
        if found is None:
            continue
        if version < Version("2.8"):
            assert "enable_op_determinism" not in found["remedy"], version
        if version >= Version("2.8") or version < Version("2.1"):
            assert "TF_DETERMINISTIC_OPS" not in found["remedy"], version


def test_nvidias_table_has_each_source_once() -> None:
    assert len(ROWS) == len({source for source, _, _ in ROWS}) == 50


@pytest.mark.parametrize(("source", "direction", "name"), ROWS)
def test_every_row_of_nvidias_table_is_here(source: str, direction: str, name: str) -> None:
    op = OPS[name]
    assert any(text.startswith(TABLE) for text in op["sources"])
    assert "gpu" in op["devices"]
    assert not direction or op["direction"] in {direction, "both"}
    assert status(name, "2.4.1"), "all of them vary in 2.4"


@pytest.mark.parametrize(("name", "version", "default", "mode"), BOUNDARIES)
def test_the_boundaries_of_nvidias_notes(name: str, version: str, default: str, mode: str) -> None:
    found = status(name, version)
    assert (found["default"], found["deterministic_mode"]) == (default, mode) if found else default == mode == ""


@pytest.mark.parametrize("name", ["cuDNN convolution autotuning", "tf.keras.layers.Conv2D", "tf.nn.conv3d"])
def test_2_5_to_2_7_need_the_cudnn_frontend_for_convolutions(name: str) -> None:
    for version in VERSIONS:
        found = status(name, version)
        assert found is not None
        wanted = Version("2.5") <= version < Version("2.8")
        assert ("TF_CUDNN_USE_FRONTEND" in found["remedy"]) is wanted, version


def test_before_2_1_only_the_patch_cures_the_bias() -> None:
    found = status("tf.nn.bias_add", "2.0.0")
    assert found is not None
    assert "patch" in found["remedy"].lower()


def test_common_ops_are_cured_by_the_switch() -> None:
    common = [name for name, op in OPS.items() if op["common"]]
    assert "tf.keras.layers.Conv2D" in common
    for name in common:
        for version in VERSIONS:
            found = status(name, version)
            assert found is not None
            assert version in NO_SWITCH or found["deterministic_mode"] == "same", (name, version)
