"""cudnn-benchmark: cuDNN's algorithms are chosen by timing them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import Cond, both, by_default, either, is_symbolic, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch import mode as torchmode
from d9mlint.python.frameworks.torch.mode import Setting
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.tryouts import defines_networks

_TRANSFORMERS = "transformers"
_MODELS = (
    "torchvision.models", "torchvision.ops", "timm", _TRANSFORMERS, "diffusers", "segmentation_models_pytorch",
    "monai", "detectron2", "mmengine", "mmcv", "speechbrain",
)  # fmt: skip
"""Packages whose networks may hold convolutions."""
_NETWORK = re.compile(r"transformers\.((?!PreTrained)\w*?(Model|For[A-Z]|LMHead)\w*|pipeline)\b")
_OF_TEXT = re.compile(
    r"transformers\.(AutoModelFor(CausalLM|Seq2SeqLM|MaskedLM|SequenceClassification|TokenClassification|"
    r"QuestionAnswering|MultipleChoice|NextSentencePrediction)|(GPT|Bert|Roberta|DistilBert|Albert|Electra|T5|Bart)[A-Z2N]\w*)\b"
)
"""Networks of transformers for texts: layers that multiply matrices, also what GPT-2 calls `Conv1D`."""
_CONVOLVES = re.compile(r"(?i)conv(?!er[ts]|ex)")
_PLAIN = frozenset(
    {
        "torch", "numpy", "scipy", "pandas", "sklearn", "matplotlib", "seaborn", "tqdm", "yaml", "requests",
        "nltk", "spacy", "tensorboard", "tensorboardX", "wandb", "absl", "gym", "gymnasium", "h5py", "PIL",
        "cv2", "torchtext", "sentencepiece", "sacrebleu", "networkx", "numba", "joblib", "dill", "einops",
        "apex", "tensorflow", "setproctitle", "graphviz", "tokenizers", "datasets", "regex", "ftfy", "lmdb",
        "skimage", "imageio", "psutil", "visdom", "tabulate", "termcolor", "six", "future", "cPickle", "cStringIO",
        "StringIO", "ConfigParser", "Queue", "urllib2", "urlparse", "HTMLParser", "__builtin__", "copy_reg",
        "hyperopt", "optuna", "gensim", "faiss", "umap", "xgboost", "lightgbm", "catboost", "statsmodels", "polars",
        "pyarrow", "rdkit", "ogb", "dgl", "torch_geometric", "torch_sparse", "torch_scatter", "torch_cluster", "sacred",
        "omegaconf", "fire", "click", "rich", "loguru", "mlflow", "ml_collections", "easydict", "munch", "cloudpickle",
        "pybullet", "mujoco_py", "d4rl", "pygame", "configargparse", "prettytable", "jsonlines", "simplejson", "ujson",
        "pytorch_lightning", "lightning", "torch_xla", "pkg_resources", "librosa", "soundfile", "colorama",
        "colorlog", "texttable", "thop",
    }
)  # fmt: skip
"""Packages that bring no networks with convolutions along, and Python 2's, beside the standard library of today."""
_REMEDY = "leave `benchmark=True` out, and give the trainer `deterministic=True`, which has cuDNN take fixed algorithms"
_AGAIN = "the trainer sets it once more, to what it is given"
_ALSO = (
    "set `torch.backends.cudnn.benchmark = False` (the default), and pass `benchmark=False` to the trainer, "
    "which sets it once more"
)
_KERNELS = re.compile(r"_(C|cuda|ext|cpp)$")
"""Modules of compiled kernels, which are functions."""
_BY_NAME = ("importlib.import_module", "builtins.__import__")
_GRAPHS = ("torch_geometric.", "dgl.")
"""Packages whose convolutions are sums over the edges of graphs, which cuDNN does not compute."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Assignments of True that no later one takes back, also by a trainer."""
    convolves = _convolves(program)
    if convolves is False:
        return
    settings = torchmode.benchmarks(program)
    mode = torchmode.torch_mode(program)
    trainers = torchmode.trainers_told(program)
    asked = both(torchmode.cudnn_deterministic(program)) is True or mode.on is True
    for one in settings:
        own = either(*(each.on for each in mode.asked if each.event is one.event))  # `deterministic-with-benchmark`
        cond = both(one.true, negate(own), torchgpu.on_gpu(program), *_kept(one, settings))
        if truth(cond, one.event.guards) is False or not is_symbolic(cond) or _taken_back(one, settings):
            continue
        event = replace(one.event, guards=(*one.event.guards, *(() if convolves is True else (convolves,))))
        later = [each for each in trainers if one.event.kind == "set" and each.index > one.event.index]
        yield draft(
            program,
            rule, event, cond=cond, name=_told(one.event), related=[Related(each.location, _AGAIN) for each in later],
            remedy=_REMEDY if one.event.kind != "set" else _ALSO if later else "",
            among=" (among deterministic ones here, which still differ from each other)" if asked else "",
        )  # fmt: skip


def _told(event: Event) -> str:
    """An assignment, or the call that makes it, in words."""
    last = event.raw.rpartition(".")[2]
    return f"{event.name} = True" if event.kind == "set" else f"{last}({torchmode.BENCHMARK.keyword}=True)"


def _convolves(program: Program) -> Cond:
    """When a convolution may run: one is seen, or a network that another package makes, or nobody knows what.

    Where a program has networks of its own and no other package brings any, those are what it calls without being
    followed, also out of a file: to unpickle a network takes its class.
    """
    calls = [event for event in program.events if event.kind in ("call", "unresolved")]
    seen = program.named(lambda name: not name.startswith(_GRAPHS) and _is_convolution(name), "call", "unresolved")
    seen = [e for e in seen if not e.detached or _is_loaded(program, e)]
    of_text = _is_of_text(calls)
    if program.imports(*(one for one in _MODELS if one != _TRANSFORMERS or not of_text)) or any(
        e.detached for e in seen
    ):
        return True
    if seen:
        runs = either(*(both(*e.guards) for e in seen))
        return True if by_default(runs) is True else runs
    unread = any(e.kind == "unresolved" and (program.story.local or not e.detached) for e in calls)
    layers = any(e.name.startswith("torch.nn.") and any(effect.draws for effect in e.effects) for e in calls)
    if layers or defines_networks(program.story, anywhere=True):
        return unread and _has_strangers(program)
    if of_text and not _has_strangers(program, _TRANSFORMERS):
        return False
    return unread or any(not event.detached for event in program.calls("torch.load"))


def _is_loaded(program: Program, event: Event) -> bool:
    """Whether a file is seen to be imported, or a module may be that is only named at run time."""
    loaded: frozenset[str] = program.once("files-imported", _imported)
    return event.location.path in loaded or any(not one.detached for one in program.calls(*_BY_NAME))


def _imported(program: Program) -> frozenset[str]:
    return frozenset(e.location.path for e in program.events if e.kind == "import" and not e.detached)


def _is_convolution(name: str) -> bool:
    return bool(_CONVOLVES.search(name)) or name.startswith(_MODELS[:2])


def _is_of_text(calls: Sequence[Event]) -> bool:
    """Whether all networks that are seen to come from transformers are those for texts, and there are some."""
    made = {match[0] for event in calls if (match := _NETWORK.match(event.name))}
    return bool(made) and all(map(_OF_TEXT.fullmatch, made))


def _has_strangers(program: Program, *known: str) -> bool:
    """Whether a package is imported that may bring networks along, beside those that are ``known``."""
    own = {module.name.partition(".")[0] for module in program.story.modules}
    imports = [event for event in program.events if event.kind == "import" and not event.detached]
    roots = {root for event in imports if not _KERNELS.search(root := event.raw.partition(".")[0])} - own
    return not roots <= _PLAIN | set(known) | sys.stdlib_module_names or bool(program.calls("torch.hub.*"))


def _kept(one: Setting, settings: list[Setting]) -> Iterator[Cond]:
    """When later assignments leave it at that: they are not made, or make it true as well."""
    for later in settings:
        if later.event.index > one.event.index and not later.event.detached and later.event.meets(one.event):
            made = both(*(g for g in later.event.guards if g not in one.event.guards))
            if made is not True and is_symbolic(made) and is_symbolic(later.true):
                yield either(negate(made), later.true)


def _taken_back(one: Setting, settings: list[Setting]) -> bool:
    """Whether a later assignment surely says otherwise wherever this one happens."""
    return any(
        s.event.index > one.event.index and s.true is not True and is_symbolic(s.true) and not s.event.detached
        and all(g in one.event.guards for g in s.event.guards)
        for s in settings
    )  # fmt: skip
