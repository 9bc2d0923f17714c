"""The types of the arrays that an elementwise kernel of CuPy is called with: what its type parameters stand for.

``ElementwiseKernel("T x", "raw T y", code, name)(x, y)``: https://docs.cupy.dev/en/stable/user_guide/kernel.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from d9mlint.kernels.embedded.kinds import plain_kind
from d9mlint.kernels.embedded.tensors import tensor
from d9mlint.kernels.python.files import PyFile
from d9mlint.kernels.python.words import Above, Mention, parents


def given(file: PyFile, made: ast.Call, above: Above, parameters: Sequence[tuple[str, str, bool]]) -> dict[str, str]:
    """The dtype of each type parameter, by the first array in every call of a kernel that shows it.

    ``parameters`` are the type, the name and whether it is raw, in order; arrays of one type parameter have one type.
    """
    found: dict[str, set[str]] = {}
    for call, mention in _calls(file, made, above):
        for name in {type_ for type_, _, _ in parameters if type_[0].isupper()}:
            arrays = [a for a, (type_, _, _) in zip(call.args, parameters, strict=False) if type_ == name]
            dtypes = (tensor(mention, array, file, {}) for array in arrays)
            found.setdefault(name, set()).add(next((d for d in dtypes if plain_kind(d)), ""))
    return {
        name: dtypes.pop().rpartition(".")[2] for name, dtypes in found.items() if len(dtypes) == 1 and "" not in dtypes
    }


def _calls(file: PyFile, made: ast.Call, above: Above) -> Iterator[tuple[ast.Call, Mention]]:
    """Where the kernel is called: as it is made, or under the name that it is given."""
    around = parents(above)
    parent = around[-1] if around else None
    if isinstance(parent, ast.Call) and parent.func is made:
        yield parent, Mention(ast.Name(""), around)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        for mention in file.mentions.get(parent.targets[0].id, ()):
            if mention.call is not None:
                yield mention.call, mention
