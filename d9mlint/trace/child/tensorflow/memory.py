"""Keeps TensorFlow's memory optimizer to what it does to a function that is not recorded.

Where the values that are alive at once would fill more than 80 percent of a device's memory, of which a CPU counts as
256 MiB, it turns sums of three and more tensors (`AddN`) into additions to one buffer, in the order in which these come
(tensorflow/core/grappler/optimizers/memory_optimizer.cc, `SchedulingPass`; 2.21). A value that is handed to the
recording lives longer, so such sums would be found in functions that have none, and vary where nothing varies. So each
function is optimized without what records it, and that optimizer is switched off where it leaves that one alone.
"""

from __future__ import annotations

import sys
from importlib import import_module as _module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..importing import Importing
    from ..wrapping import Wrapping

MARK = "_d9mlint"
"""The attribute of nodes that the recording has put into a graph."""
_MADE = frozenset(("TemporaryVariable", "_CopyFromGpuToHost"))
"""What the memory optimizer puts into a graph."""
_SOURCE = "d9mlint_source"
_CONFIG = "tensorflow.core.protobuf.config_pb2"
_CONVERSION = "tensorflow.python.framework.function_def_to_graph"


def install(importing: Importing, wrapping: Wrapping) -> None:
    """Functions that are called eagerly are looked at before they run for the first time."""
    importing.after("tensorflow.python.eager.context", lambda module: _hooked(wrapping, module))


def _hooked(wrapping: Wrapping, module: Any) -> None:
    known: dict[Any, Any] = {}
    """By function, the options that it is called with; None for those that the program calls it with."""

    def calling(real: Any) -> Any:
        def call_function(context: Any, name: Any, inputs: Any, count: int) -> Any:
            if name not in known:
                known[name] = _options(wrapping, module, context, name, inputs)
            options = known[name]
            if options is None:
                return real(context, name, inputs, count)
            before = context.function_call_options
            context.function_call_options = options
            try:
                return real(context, name, inputs, count)
            finally:
                context.function_call_options = before

        return call_function

    wrapping.replace(module.Context, "call_function", calling)


def _options(wrapping: Wrapping, module: Any, context: Any, name: Any, inputs: Any) -> Any:
    recorder = wrapping.recorder
    if recorder.worker or recorder.closed:
        return None
    with recorder.apart():
        try:
            function = context.get_function_def(name)
            others = _library(context, function)
            if not any(_is_ours(node) for one in (function, *others) for node in one.node_def):
                return None
            options = context.function_call_options
            config = _module(_CONFIG).ConfigProto.FromString(options.config_proto_serialized)
            if _MADE.intersection(node.op for node in _optimized(function, others, inputs, config).node):
                return None
            rewriting = config.graph_options.rewrite_options
            rewriting.memory_optimization = type(rewriting).NO_MEM_OPT
            return module.FunctionCallOptions(options.executor_type, config)
        except Exception:  # noqa: BLE001 (another version: then the function is optimized as it is recorded)
            return None


def _is_ours(node: Any) -> bool:
    return MARK in node.attr


def _library(context: Any, function: Any) -> list[Any]:
    """The definitions of all functions that one calls."""
    found: dict[str, Any] = {}
    todo = [function]
    while todo:
        for node in todo.pop().node_def:
            for value in node.attr.values():
                for name in (value.func.name, *(one.name for one in value.list.func)):
                    if name and name not in found and context.has_function(name):
                        found[name] = context.get_function_def(name)
                        todo.append(found[name])
    return list(found.values())


def _optimized(function: Any, others: Iterable[Any], inputs: Any, config: Any) -> Any:
    """The graph of a function as TensorFlow's graph optimizer leaves it, without what records it."""
    optimize = _module("tensorflow.python.grappler.tf_optimizer").OptimizeGraph
    for one in (function, *others):
        _strip(one)
    graph, names = _module(_CONVERSION).function_def_to_graph_def(function)
    del graph.library.function[:]
    graph.library.function.extend(others)
    _feed(graph, function, inputs)
    meta = _module("tensorflow.core.protobuf.meta_graph_pb2").MetaGraphDef()
    for one in function.signature.output_arg:
        node = graph.node.add(name=one.name + "_RetVal", op="_Retval", input=[names[function.ret[one.name]]])
        node.attr["T"].type = one.type
        meta.collection_def["train_op"].node_list.value.append(node.name)  # what is asked for
    meta.graph_def.CopyFrom(graph)
    if others:  # TensorFlow puts what is called into the caller before it optimizes
        inlining = type(config)()
        inlining.graph_options.rewrite_options.min_graph_nodes = -1
        inlining.graph_options.rewrite_options.optimizers.append("function")
        meta.graph_def.CopyFrom(optimize(inlining, meta, verbose=False))
    return optimize(config, meta, verbose=False)


def _strip(function: Any) -> None:
    """Takes out what records a function."""
    ours = {node.name for node in function.node_def if _is_ours(node)}
    if not ours:
        return
    kept = [node for node in function.node_def if node.name not in ours]
    for node in kept:
        inputs = [one for one in node.input if not (one[:1] == "^" and one[1:] in ours)]
        del node.input[:]
        node.input.extend(inputs)
    del function.node_def[:]
    function.node_def.extend(kept)
    for name in [one for one, value in function.control_ret.items() if value in ours]:
        del function.control_ret[name]


def _feed(graph: Any, function: Any, inputs: Any) -> None:
    """Puts nodes in for the arguments that tell their shapes: what is fed to a graph counts as of any shape."""
    resource = sys.modules["tensorflow"].resource.as_datatype_enum
    source = graph.node.add(name=_SOURCE, op="_Arg")
    source.attr["T"].type = resource
    source.attr["index"].i = len(inputs)
    for index, (argument, value) in enumerate(zip(function.signature.input_arg, inputs)):  # noqa: B905
        node = graph.node[index]
        node.ClearField("attr")
        shapes = function.arg_attr[index].attr["_output_shapes"].list.shape
        if argument.type != resource and shapes:
            node.op = "IteratorGetNext"
            node.input.append(_SOURCE)
            node.attr["output_types"].list.type.append(argument.type)
            node.attr["output_shapes"].list.shape.add().CopyFrom(shapes[0])
            continue
        node.op = "_Arg"
        node.attr["T"].type = argument.type
        node.attr["index"].i = index
        for one in getattr(getattr(value, "_handle_data", None), "shape_and_type", ()):
            node.attr["_handle_dtypes"].list.type.append(one.dtype)
            node.attr["_handle_shapes"].list.shape.add().CopyFrom(one.shape)
