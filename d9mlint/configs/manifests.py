"""What the containers of Kubernetes manifests start, and with which environment.

Wherever a pod stands: by itself, or as the template of a Job, a Deployment, a PyTorchJob ... Sources: kubernetes.io,
docs/reference/kubernetes-api/workload-resources/pod-v1 (Container: command, args, env, envFrom, workingDir);
tasks/inject-data-application/define-command-argument-container (``$(NAME)``, also in the values of ``env``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from d9mlint.configs.documents import Node
from d9mlint.configs.shell import Command
from d9mlint.configs.starts import started
from d9mlint.configs.told import Start, Text
from d9mlint.model import EnvironmentVariable

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_.-][\w.-]*)\)")
_LISTS = ("initContainers", "containers")


def manifests(documents: Sequence[Node]) -> Iterator[Start]:
    """The Python scripts that the containers of a file's objects start."""
    objects = [one for one in documents if one.get("apiVersion") is not None and one.text("kind") is not None]
    maps = {one.text("metadata", "name"): one for one in objects if one.text("kind") == "ConfigMap"}
    for root in objects:
        for container in _containers(root):
            environment = _environment(container, maps)
            words = [_text(item, environment) for name in ("command", "args") for item in _items(container, name)]
            if words:
                folder = (container.text("workingDir") or "").lstrip("/")
                yield from started(Command(tuple(words), environment, words[0].location, folder))


def _containers(root: Node) -> Iterator[Node]:
    """The containers of all pods in an object, in document order; each node is looked at once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for name in _LISTS:
            yield from (item for item in _items(node, name) if item.kind == "map" and id(item) not in seen)
        stack += reversed([value for _, value in node.pairs()] + node.items)


def _items(node: Node, name: str) -> list[Node]:
    found = node.get(name)
    return found.items if found is not None else []


def _environment(container: Node, maps: Mapping[str | None, Node]) -> dict[str, EnvironmentVariable]:
    """``envFrom``, as far as its ConfigMaps stand in the same file, then ``env``, which comes before it."""
    found: dict[str, EnvironmentVariable] = {}
    for source in _items(container, "envFrom"):
        known = maps.get(source.text("configMapRef", "name"))
        data = known.get("data") if known is not None else None
        prefix = source.text("prefix") or ""
        for key, value in data.pairs() if data is not None else ():
            text = value.value if isinstance(value.value, str) else None
            found[f"{prefix}{key.value}"] = EnvironmentVariable(f"{prefix}{key.value}", text, key.location)
    for item in _items(container, "env"):
        place, name = item.get("name"), item.text("name")
        if place is None or name is None:
            continue
        written = item.get("value")
        if written is None:  # valueFrom: a secret, a field of the pod; nothing at all is an empty text
            found[name] = EnvironmentVariable(name, None if item.get("valueFrom") else "", place.location)
        else:
            full, is_known = _expanded(str(written.value), found)
            found[name] = EnvironmentVariable(name, full if is_known else None, place.location)
    return found


def _text(item: Node, environment: Mapping[str, EnvironmentVariable]) -> Text:
    text, known = _expanded(str(item.value), environment)
    return Text(text, known, item.location)


def _expanded(text: str, environment: Mapping[str, EnvironmentVariable]) -> tuple[str, bool]:
    """A text with ``$(NAME)`` filled in, and whether all is known; what is no variable stays as it is."""
    known = True

    def value(match: re.Match[str]) -> str:
        nonlocal known
        if match[1] is None:
            return "$"
        if match[1] not in environment:
            return match[0]
        found = environment[match[1]].value
        known = known and found is not None
        return match[0] if found is None else found

    return _REFERENCE.sub(value, text), known
