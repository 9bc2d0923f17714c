"""From ops to the Python names under which a user meets them."""

from __future__ import annotations

import pytest

from d9mlint.kernels.tensorflow.python import snake
from d9mlint.model.kernel import KernelOp

from .tensorflow_sources import BLUR, anchors, flow, ops, register, repository

PYTHON = {
    "tensorflow/core/api_def/base_api/api_def_BlurGrad.pbtxt": 'op {\n  graph_op_name: "BlurGrad"\n  visibility: HIDDEN\n}\n',
    "tensorflow/core/api_def/base_api/api_def_Blur.pbtxt": 'op {\n  graph_op_name: "Blur"\n  in_arg { name: "x" }\n}\n',
    "tensorflow/core/api_def/python_api/api_def_Blur.pbtxt": (
        'op {\n  graph_op_name: "Blur"\n  endpoint {\n    name: "image.blur"\n  }\n'
        '  endpoint {\n    name: "blur"\n    deprecated: true\n  }\n}\n'
    ),
    "tensorflow/python/ops/image_grad.py": (
        '@ops.RegisterGradient("Blur")\ndef _BlurGrad(op, grad):\n  """x."""\n  return _helper(op, grad)\n\n\n'
        "def _helper(op, grad):\n  return gen_image_ops.blur_grad(grad, op.inputs[0])\n"
    ),
    "tensorflow/python/ops/image_ops_impl.py": (
        '@tf_export(v1=["image.soften"])\n@deprecation.deprecated(None, "x")\ndef soften(x):\n'
        "  if x:\n    return image_ops.blur(x)\n  return x\n"
    ),
}


def in_tensorflow(files: dict[str, str]) -> dict[str, str]:
    return {f"tensorflow/core/kernels/{path.split('/')[-1]}": text for path, text in files.items()}


def test_a_gradient_op_is_met_under_the_names_of_its_forward_op() -> None:
    (op,) = ops({**in_tensorflow(BLUR), **PYTHON}).values()
    assert op.python == ("tf.image.blur", "tf.blur", "tf.image.soften")
    assert (op.direction, op.gradient_of) == ("backward", ("Blur",))
    shown = [(s.text, s.location.path.rsplit("/", 1)[-1], s.location.line) for s in op.chain[-2:]]
    assert shown == [("gradient of `Blur`", "image_grad.py", 2), ("`tf.image.blur`", "api_def_Blur.pbtxt", 4)]


def one_op(name: str, **python: str) -> KernelOp:
    kernel = "__global__ void Fold(float* p) { GpuAtomicAdd(p, 1.f); }\nclass FoldOp : public OpKernel {\n"
    kernel += "  void Compute(OpKernelContext* c) override { Fold<<<1, 1>>>(p); }\n};\n" + register(name, "FoldOp")
    paths = {f"tensorflow/python/ops/{path}.py": text for path, text in python.items()}
    (op,) = ops({"tensorflow/core/kernels/fold.cu.cc": kernel, **paths}).values()
    return op


def test_exported_functions_that_call_the_generated_wrapper() -> None:
    source = '''
@tf_export("math.fold", "fold")
def fold(x):
  """Calls `gen_math_ops.fold`."""
  return gen_math_ops.fold(x)

def private(x):
  return gen_math_ops.fold(x)

@tf_export("math.through")
def through(x):
  return private(x)

@tf_export("math.composed")
def composed(x):
  return fold(x)
'''
    op = one_op("Fold", math_ops=source)
    assert op.python == ("tf.math.fold", "tf.fold", "tf.math.through")
    assert (op.direction, op.gradient_of) == ("forward", ())


def test_exports_that_are_called_with_the_wrapper() -> None:
    source = """
tf_export(v1=["nn.fold"])(gen_nn_ops.fold)
tf_export("nn.other")(gen_nn_ops.other)
def _plain(x):
  return gen_nn_ops.fold(x)
tf_export("nn.plain")(
    deprecated(_plain))
"""
    assert one_op("Fold", nn_ops=source).python == ("tf.nn.fold", "tf.nn.plain")


def test_methods_of_exported_classes() -> None:
    source = """
@tf_export("Generator")
class Generator(object):
  def normal(self):
    return self._normal()

  def _normal(self):
    return gen_random_ops.fold(1)

  def fold(self):
    return gen_random_ops.fold(2)
"""
    assert one_op("Fold", random_ops=source).python == ("tf.Generator.normal",)


def test_an_op_with_names_of_its_own_that_gradients_use_too() -> None:
    source = '@tf_export("fold")\ndef fold(x):\n  return gen_math_ops.fold(x)\n'
    grad = (
        '@ops.RegisterGradient("Take")\n@ops.RegisterGradient("TakeV2")\ndef _Take(op, g):\n  return math_ops.fold(g)\n'
    )
    op = one_op("Fold", math_ops=source, math_grad=grad)
    assert (op.direction, op.python, op.gradient_of) == ("both", ("tf.fold",), ("Take", "TakeV2"))


def test_the_gradient_of_a_gradient() -> None:
    grad = '@ops.RegisterGradient("Fold")\ndef _F(op, g):\n  return gen_nn_ops.fold_grad(g)\n\n'
    grad += '@ops.RegisterGradient("FoldGrad")\ndef _G(op, g):\n  return gen_nn_ops.fold_grad_grad(g)\n'
    source = '@tf_export("nn.fold")\ndef fold(x):\n  return gen_nn_ops.fold(x)\n'
    op = one_op("FoldGradGrad", nn_ops=source, nn_grad=grad)
    assert (op.direction, op.python, op.gradient_of) == ("backward", ("tf.nn.fold",), ("FoldGrad",))


def test_an_op_library_of_its_own() -> None:
    kernel = "__global__ void Warp(float* p) { GpuAtomicAdd(p, 1.f); }\nclass WarpOp : public OpKernel {\n"
    kernel += "  void Compute(OpKernelContext* c) override { Warp<<<1, 1>>>(p); }\n};\n" + register(
        "WarpGrad", "WarpOp"
    )
    loads = "_lib = tf.load_op_library('_warp.so')\n\n\ndef warp(x):\n  return _lib.warp(x)\n\n\n"
    loads += '@ops.RegisterGradient("Warp")\ndef _grad(op, g):\n  return _lib.warp_grad(g)\n'
    files = {"src/cc/warp.cu.cc": kernel, "src/warplib/__init__.py": "", "src/warplib/ops.py": loads}
    (op,) = ops(files).values()
    assert (op.python, op.direction, op.gradient_of) == (("warplib.ops.warp",), "backward", ("Warp",))
    exposed = {**files, "src/warplib/__init__.py": "from warplib.ops import warp\n"}
    assert next(iter(ops(exposed).values())).python == ("warplib.warp",)


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("CropAndResize", "crop_and_resize"),
        ("SparseTensorDenseMatMul", "sparse_tensor_dense_mat_mul"),
        ("Conv2DBackpropInput", "conv2d_backprop_input"),
        ("MaxPoolGradV2", "max_pool_grad_v2"),
        ("Dilation2D", "dilation2d"),
        ("LRN", "lrn"),
        ("FFT2D", "fft2d"),
        ("SVDGrad", "svd_grad"),
    ],
)
def test_the_generated_name(op: str, name: str) -> None:
    assert snake(op) == name


def test_the_order_of_files_does_not_matter() -> None:
    forward = repository({**in_tensorflow(BLUR), **PYTHON})
    backward = repository(dict(reversed({**in_tensorflow(BLUR), **PYTHON}.items())))
    assert flow(forward, anchors(forward)) == flow(backward, reversed(anchors(backward)))
