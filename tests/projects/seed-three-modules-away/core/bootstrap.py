from core.common import repro as _r


def start(cfg):
    _r.apply(cfg["seed"])
    return cfg
