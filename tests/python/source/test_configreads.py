"""Which keys a program cannot do without of the configurations that it loads."""

from __future__ import annotations

import textwrap

import pytest

from d9mlint.python.source.configreads import Reader, readers
from d9mlint.python.source.parsing import parse


def read(text: str) -> list[Reader]:
    return readers(parse(textwrap.dedent(text).encode(), "train.py"))


def needed(text: str) -> list[str]:
    (one,) = read(text)
    return sorted(".".join(keys) for keys in one.needed)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        # what is set in a part needs the part; what was set need not be there
        ("cfg.model.head.name = args.head\nprint(cfg.model.head.name)", ["model.head"]),
        # in OmegaConf 2.0 a key that is missing is None: an error where something is read of it
        ("use(cfg.model.depth.size)", ["model.depth"]),
        ("cfg.pop('a', None).b\ncfg.model.get('depth', 3)", ["model"]),
        ("part = cfg.model\nuse(part.head.size)", ["model.head"]),
        # under a condition, or where something else is done about the error
        ("if args.head:\n    cfg.model.head.name = args.head", []),
        ("use(args.head and cfg.model.head.name, [cfg.a.b for _ in ()], cfg.a.b if args.a else 0)", []),
        ("try:\n    use(cfg.model.head.name)\nexcept AttributeError:\n    pass", []),
        ("try:\n    use(cfg.model.head.name)\nexcept Exception:\n    clean()\n    raise", ["model.head"]),
        # nobody knows whether it goes on
        ("if args.test:\n    sys.exit()\nuse(cfg.model.head.name)", []),
        ("fill(cfg)\nuse(cfg.model.head.name)", []),
        ("print(cfg)\nuse(cfg.model.head.name)", ["model.head"]),
        ("if args.small:\n    cfg.model.head = small\nuse(cfg.model.head.name)", []),
        ("if args.small:\n    cfg = small()\nuse(cfg.model.head.name)", []),
    ],
)
def test_keys_of_omegaconf(text: str, keys: list[str]) -> None:
    assert needed(f"import sys\nfrom omegaconf import OmegaConf\ncfg = OmegaConf.load(args.config)\n{text}") == keys


def test_keys_of_plain_dicts() -> None:
    text = """
        import yaml
        from easydict import EasyDict as edict
        def main():
            with open(args.config) as file:
                config = edict(yaml.safe_load(file))
            use(config["optimizer"]["lr"], config["model"].get("depth"), config.data[name])
        if __name__ == "__main__":
            main()
    """
    assert needed(text) == ["data", "model", "optimizer.lr"]


def test_of_several_files_one_may_have_what_another_lacks() -> None:
    load = "from omegaconf import OmegaConf\n"
    many = "configs = [OmegaConf.load(path) for path in args.base]\n"
    assert needed(f"{load}{many}cfg = OmegaConf.merge(*configs, OmegaConf.from_cli())\nuse(cfg.a.b)") == ["a"]
    two = "cfg = OmegaConf.merge(OmegaConf.load('base.yaml'), OmegaConf.load(args.config))\n"
    assert needed(f"{load}{two}use(cfg.a.b)") == []


def test_what_is_handed_on_is_read_elsewhere() -> None:
    load = "import yaml\nfrom lib import build\ncfg = yaml.safe_load(open(args.config))\n"
    assert [one.escapes for one in read(f"{load}build(cfg)")] == [True]
    assert [one.escapes for one in read(f"{load}build(cfg['model'])")] == [False]
    assert [one.escapes for one in read("import json\ndef load(path):\n    return json.load(open(path))\n")] == [True]
    assert read("import numpy as np\ncfg = np.load(path)\nuse(cfg['a']['b'])") == []
