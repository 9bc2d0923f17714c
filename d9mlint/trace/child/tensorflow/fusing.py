"""Which ops TensorFlow's graph optimizer may rewrite together: what reads values between them keeps it from that.

Read in tensorflow/core/grappler/optimizers: arithmetic_optimizer.cc, remapper.cc, constant_folding.cc (2.21). These ops
give the same bits for the same inputs by themselves, unless the first of a chain does not (`begins`).
"""

from __future__ import annotations

_BEGIN = frozenset(
    (
        "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "FusedBatchNorm",
        "FusedBatchNormV2", "FusedBatchNormV3", "MatMul", "Softmax",
    )
)  # fmt: skip
"""What activations, biases and products are fused into."""
_REWRITTEN = _BEGIN | frozenset(
    (
        # element by element
        "Abs", "Add", "AddN", "AddV2", "BiasAdd", "BiasAddV1", "Cast", "Ceil", "Cos", "Div", "DivNoNan", "Elu", "Erf",
        "Erfc", "Exp", "Expm1", "Floor", "FloorDiv", "Greater", "GreaterEqual", "Inv", "LeakyRelu", "Less", "LessEqual",
        "Log", "Log1p", "LogicalAnd", "LogicalNot", "LogicalOr", "Maximum", "Minimum", "Mul", "MulNoNan", "Neg",
        "OnesLike", "Pow", "RealDiv", "Reciprocal", "Relu", "Relu6", "Rint", "Round", "Rsqrt", "Select", "SelectV2",
        "Selu", "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Square", "SquaredDifference", "Sub", "Tan",
        "Tanh", "Xdivy", "ZerosLike",
        # what only moves elements
        "Bitcast", "BroadcastTo", "ConjugateTranspose", "ExpandDims", "Fill", "Pad", "Reshape", "Squeeze", "Tile",
        "Transpose",
    )
)  # fmt: skip


def rewritten(kind: str) -> bool:
    """Whether an op may be rewritten together with those that read it, or that it reads."""
    return kind in _REWRITTEN


def begins(kind: str) -> bool:
    """Whether a chain begins with such an op: what goes in is made by itself."""
    return kind in _BEGIN
