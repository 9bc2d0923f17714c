"""Cures away from the place of a finding, at places that it tells: where an object is made, a graph, a process begins.

Which place that is a rule says by the note that the finding has for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import libcst as cst

from d9mlint.fix import environments, remedies, statements
from d9mlint.fix.place import Need, Place
from d9mlint.fix.tree import Statement, Tree, at_start, behind, end, span, tree
from d9mlint.model import Edit

_TENSORFLOW = re.compile(
    rb"^import tensorflow(?:\.compat\.v1)? as (\w+)|^from tensorflow\.compat import v1 as (\w+)", re.M
)
_ONE = re.compile(r"\b1\)$")
_SEEDS = ("reset", "seed", "manual_seed")
_SPAWNS = ("spawn", "start_processes")
_OF_NUMPY = re.compile(rb"\b(np|numpy)\.random\.(?!seed\b|get_state|set_state)\w")
_OF_PYTHON = re.compile(rb"^\s*(from random import|import random\b)", re.M)
_OWN = re.compile(rb"\bdefault_rng\b|\bRandomState\(|\brandom\.Random\(")


# -- objects with a generator of their own ---------------------------------------------------------------------------


def behind_maker(note: str, place: Place) -> Iterator[Edit | Need]:
    """The call of a method that the remedy names, behind the statement that makes the object."""
    maker = place.other(note) or place
    of, made, method = maker.tree, maker.statement, environments.seeding_method(place)
    if of is None or made is None or not method:
        return
    name = _assigned(of, made)
    if not name:
        return
    statement, seed = _seeded(of, made, name) or (made, "1")
    yield behind(maker.path, of, statement, f"{name}.{_ONE.sub(f'{seed})', method)}")


def _assigned(of: Tree, made: Statement) -> str:
    """The name or attribute that all of a statement assigns to; empty where it is another one."""
    parts = made.node.body if isinstance(made.node, cst.SimpleStatementLine) else ()
    part = parts[0] if len(parts) == 1 else None
    if not isinstance(part, cst.Assign) or len(part.targets) != 1 or not isinstance(part.value, cst.Call):
        return ""
    target = part.targets[0].target
    return of.code(target) if isinstance(target, (cst.Name, cst.Attribute)) else ""


def _seeded(of: Tree, made: Statement, name: str) -> tuple[Statement, str] | None:
    """The later statement of the same block that seeds the object otherwise, and the seed."""
    for one in of.statements:
        if one.block is not made.block or one.where.start.line <= made.where.start.line:
            continue
        for call in _calls(one.node):
            func = call.func
            if not isinstance(func, cst.Attribute) or func.attr.value not in _SEEDS or of.code(func.value) != name:
                continue
            for arg in call.args:
                keyword = arg.keyword.value if arg.keyword is not None else ""
                fits = keyword == "seed" or (not keyword and func.attr.value != "reset")
                if fits and isinstance(arg.value, (cst.Name, cst.Attribute, cst.Integer)):
                    return one, of.code(arg.value)
    return None


def _calls(node: cst.CSTNode) -> Iterator[cst.Call]:
    """The calls in a statement of its own line."""
    if isinstance(node, cst.BaseCompoundStatement):
        return
    if isinstance(node, cst.Call):
        yield node
    for child in node.children:
        yield from _calls(child)


def chained(methods: Mapping[str, str], place: Place) -> Iterator[Edit | Need]:
    """The same where the object is made and handed on at once, by a method that returns it."""
    method = remedies.method(place.found.remedy, place.text)
    note = methods.get(method.partition("(")[0])
    maker = (place.other(note) or place) if note is not None else None
    if maker is not None and maker.tree is not None and maker.tree.call(maker.at) is not None:
        yield Edit(end(maker.at), f".{method}")


# -- graphs of TensorFlow 1 ------------------------------------------------------------------------------------------


def within_graph(note: str, place: Place) -> Iterator[Edit | Need]:
    """The seed is said again in the graph that is made after it."""
    graph, of = place.other(note), place.tree
    seed = of.call(place.at) if of is not None else None
    made = graph.statement if graph is not None else None
    if graph is None or of is None or seed is None or made is None or graph.tree is None:
        return
    func = of.code(seed.func)
    if not re.search(rf"\bas {func.partition('.')[0]}\b".encode(), graph.source):
        return
    call = f"{func}({_seed_of(place, seed, graph)})"
    body = _entered(graph.tree, made)
    edit = behind(graph.path, graph.tree, made, call) if body is None else at_start(graph.path, graph.tree, body, call)
    yield from [edit] if edit is not None else []


def seeded_graph(place: Place) -> Iterator[Edit | Need]:
    """A seed as the first statement of the block that a graph is the default one in."""
    made, of = place.statement, place.tree
    modules = _TENSORFLOW.search(place.source)
    if made is None or of is None or modules is None or not isinstance(made.node, cst.With):
        return
    name = (modules[1] or modules[2]).decode()
    old = b"compat" in modules[0] or "tf.set_random_seed(" in place.found.remedy
    call = f"{name}.set_random_seed(1)" if old else f"{name}.compat.v1.set_random_seed(1)"
    edit = at_start(place.path, of, made.node.body, call)
    yield from [edit] if edit is not None else []


def _entered(of: Tree, made: Statement) -> cst.BaseSuite | None:
    """The block that is run in a graph; None where the default graph itself is another one from there on."""
    if isinstance(made.node, cst.With):
        return made.node.body
    name = _assigned(of, made)
    entered = re.compile(rf"\b{re.escape(name)}\.as_default\(")
    for one in of.statements:
        if name and isinstance(one.node, cst.With) and any(entered.search(of.code(item)) for item in one.node.items):
            return one.node.body
    return None


def _seed_of(place: Place, seed: cst.Call, graph: Place) -> str:
    """The seed that is lost, where it means the same in the graph; else a number."""
    value = seed.args[0].value if seed.args else None
    here, there = place.statement, graph.statement
    same = here is not None and there is not None and here.functions == there.functions and place.path == graph.path
    if isinstance(value, cst.Integer) or (same and isinstance(value, (cst.Name, cst.Attribute))):
        return cst.Module([]).code_for_node(value)
    return "1"


# -- processes -------------------------------------------------------------------------------------------------------


def in_function(note: str, place: Place) -> Iterator[Edit | Need]:
    """Seeds at the start of the function that a process runs, for each process another one where it has a number."""
    there = place.other(note)
    made = there.statement if there is not None else None
    if there is None or there.tree is None or made is None or not isinstance(made.node, cst.FunctionDef):
        return
    value = _own_seed(there, made.node)
    rank = _rank(place, made.node)
    seeds = [statements.OF[name] for name in place.found.concerns if name in statements.OF]
    seed = " + ".join(filter(None, (value, rank)))
    told = [_ONE.sub(f"{seed})", there.known(one)) for one in seeds]
    indent = there.tree.indent(there.tree.positions[made.node.body.body[0]].start.line)
    edit = at_start(there.path, there.tree, made.node.body, f"\n{indent}".join(told)) if told else None
    if edit is not None:
        yield edit
        yield from (Need(there.path, one.partition(".")[0]) for one in seeds)


def _rank(place: Place, function: cst.FunctionDef) -> str:
    """The parameter that numbers the processes, as ``torch.multiprocessing.spawn`` gives it; else empty."""
    parameters = function.params.params
    for source in place.texts.values():
        of = tree(source)
        for call in of.calls.values() if of is not None else ():
            func = call.func
            last = (
                func.attr.value if isinstance(func, cst.Attribute) else func.value if isinstance(func, cst.Name) else ""
            )
            runs = of.code(call.args[0].value) if of is not None and call.args else ""
            if last in _SPAWNS and runs.rpartition(".")[2] == function.name.value and parameters:
                return parameters[0].name.value
    return ""


def _own_seed(there: Place, function: cst.FunctionDef) -> str:
    """The seed that the function is given: a parameter, or an item of one, that is a number for sure; else a number."""
    text = there.source.decode("utf-8", "replace")
    code = cst.Module([]).code_for_node(function)
    for given in function.params.params:
        parameter = given.name.value
        if parameter == "seed" and given.default is None:
            return parameter
        item = re.search(rf"\b{parameter}\[([\"'])seed\1\]", code)
        if item and re.search(r"[\"']seed[\"']:\s*\d", text):
            return item[0]
        if re.search(rf"\b{parameter}\.seed\b", text) and re.search(r"[\"']--seed[\"'][^)]*\bdefault=\d", text):
            return f"{parameter}.seed"
    return "1"


# -- checkpoints -----------------------------------------------------------------------------------------------------


def states(note: str, place: Place) -> Iterator[Edit | Need]:
    """The states of the generators go into a checkpoint, and out of it behind the last part that is loaded."""
    load, of = place.other(note), place.tree
    call = of.call(place.at) if of is not None else None
    if load is None or load.tree is None or of is None or call is None or not call.args or _draws_elsewhere(place):
        return
    saved, restored = _literal(of, place, call.args[0].value), _restored(load)
    if saved is None or restored is None or not saved.elements:
        return
    name, statement = restored
    parts = dict(_parts(place.texts.values()))
    last, lines = saved.elements[-1], [of.positions[one].start.line for one in saved.elements]
    key = of.code(last.key) if isinstance(last, cst.DictElement) else ""
    quoted = _single if key.startswith("'") else str
    items = [quoted(f'"{key}": {place.known(get)}') for key, (get, _) in parts.items()]
    alone = of.positions[last].end.line != of.positions[saved].end.line or lines[-1] > lines[0]
    indent = of.indent(of.positions[last].start.line)
    between = f",\n{indent}" if alone else ", "
    at = span(place.path, of.positions[last.value])
    yield Edit(end(at), "".join(f"{between}{item}" for item in items))
    indent = load.tree.indent(statement.where.start.line)
    step = load.tree.module.default_indent
    block = [f'if "{next(iter(parts))}" in {name}:']
    block += [step + load.known(put.format(f'{name}["{key}"]')) for key, (_, put) in parts.items()]
    yield behind(load.path, load.tree, statement, quoted(f"\n{indent}".join(block)))
    yield from (Need(place.path, root) for get, _ in parts.values() for root in remedies.roots(get))
    yield from (Need(load.path, root) for _, put in parts.values() for root in remedies.roots(put.format("{}")))


def _single(code: str) -> str:
    """The same with the other quotes, which a file may prefer."""
    return code.replace('"', "'")


def _parts(sources: Iterable[bytes]) -> Iterator[tuple[str, tuple[str, str]]]:
    """What a checkpoint holds of each generator that the files mention: its key, how it is read and how it is set.

    All of it can be loaded with ``weights_only``, for which NumPy's arrays are no plain data.
    """
    told = tuple(sources)
    yield "rng_state", ("torch.get_rng_state()", "torch.set_rng_state({}.cpu())")
    if any(b"cuda" in one for one in told):
        yield (
            "cuda_rng_state",
            ("torch.cuda.get_rng_state_all()", "torch.cuda.set_rng_state_all([state.cpu() for state in {}])"),
        )
    if any(map(_OF_NUMPY.search, told)):
        plain = '[part.tolist() if hasattr(part, "tolist") else part for part in np.random.get_state()]'
        yield "numpy_rng_state", (plain, "np.random.set_state(tuple({}))")
    if any(map(_OF_PYTHON.search, told)):
        yield "python_rng_state", ("random.getstate()", "random.setstate({})")


def _draws_elsewhere(place: Place) -> bool:
    """Whether the files mention generators that are objects of their own, whose states would have to be found."""
    return any(map(_OWN.search, place.texts.values()))


def _literal(of: Tree, place: Place, value: cst.BaseExpression) -> cst.Dict | None:
    """The dictionary that is saved, as it is written: in the call, or in the last statement before that names it."""
    if isinstance(value, cst.Dict):
        return value
    here = place.statement
    found: cst.Dict | None = None
    for one in of.statements:
        if here is None or one.functions != here.functions or one.where.start.line >= here.where.start.line:
            continue
        part = one.node.body[0] if isinstance(one.node, cst.SimpleStatementLine) else None
        if isinstance(part, cst.Assign) and any(of.code(target.target) == of.code(value) for target in part.targets):
            found = part.value if isinstance(part.value, cst.Dict) else None
    return found


def _restored(load: Place) -> tuple[str, Statement] | None:
    """The name of what is loaded, and the last statement of the block that loads a part of it."""
    of, here = load.tree, load.statement
    call = of.call(load.at) if of is not None else None
    value = call.args[0].value if call is not None and call.args else None
    if of is None or here is None or not isinstance(value, cst.Subscript) or not isinstance(value.value, cst.Name):
        return None
    part = re.compile(rf"\.load_state_dict\(\s*{value.value.value}\[")
    loads = [one for one in of.statements if one.block is here.block and part.search(of.code(one.node))]
    return (value.value.value, loads[-1]) if loads else None
