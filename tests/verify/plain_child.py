"""The real child with a framework of the standard library: processes that crash, hang and lie for real, in no time."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import random
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

CHILD = Path(__file__).resolve().parents[2] / "d9mlint" / "verify" / "child" / "__main__.py"
spec = importlib.util.spec_from_file_location("starter", CHILD)
starter = importlib.util.module_from_spec(spec)
spec.loader.exec_module(starter)
serving = starter.module("serving")
Framework = starter.module("frameworks.base").Framework
REPLIES = int(sys.argv[-1])


class Plain(Framework):
    """Numbers as float64; what a case may name is the standard library."""

    def __init__(self, start):
        super().__init__(start)
        self.start, self.count, self.poisoned = start, 0, False
        shown = os.environ.get("CUDA_VISIBLE_DEVICES") != "-1"
        self.names = ["card"] * (int(os.environ.get("PLAIN_GPUS", "0")) if shown else 0)
        if self.gpu and os.environ.get("PLAIN_BROKEN"):
            raise RuntimeError("CUDA initialization failed")
        if self.gpu and os.environ.get("PLAIN_LOCK"):
            self.lock = os.open(os.environ["PLAIN_LOCK"], os.O_CREAT | os.O_RDWR)
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # one process at a time

    def for_gpus(self):
        return not os.environ.get("PLAIN_CPU_BUILD")

    def versions(self):
        return {"plain": "1"}

    def reset(self, seed):
        random.seed(seed)

    def tensor(self, spec, seed):
        return [random.Random(seed + n).gauss(0, 1) for n in range(spec["shape"][0])]

    def placed(self, value):
        return value if isinstance(value, list) else None

    def parts(self, tensors):
        return [self._packed(one) for one in tensors]

    def names_for(self, code):
        helpers = {"random": random, "os": os, "time": time, "subprocess": subprocess, "hash": hash, "me": self}
        return {"torch": self, "hashlib": hashlib, "threading": threading, "REPLIES": REPLIES, **helpers}

    def next(self):
        self.count += 1
        return self.count

    def deterministic(self):
        return self.start["mode"] == "deterministic"

    def threads(self):
        return self.start["threads"]

    def steady(self, kind):
        return 1.0 * kind

    def tell(self):
        """The test that waits for it learns that the case is under way."""
        Path(os.environ["PLAIN_UNDER_WAY"]).touch()
        return True

    def pause(self):
        self.tell()
        time.sleep(50)
        return 1.0

    def fail(self, text):
        raise RuntimeError(text)

    def poison(self):
        self.poisoned = True
        raise RuntimeError("CUDA error: device-side assert triggered")

    def usable(self):
        return not self.poisoned

    def function(self, case, inputs, scope):
        def call():
            if self.poisoned:
                raise RuntimeError("CUDA error: device-side assert triggered")
            value = eval(case["code"], {**scope, **inputs})
            return [self._packed(value if isinstance(value, list) else [value])]

        return call

    @staticmethod
    def _packed(numbers):
        return "float64", struct.pack(f"={len(numbers)}d", *numbers)

    def output(self, tensor):
        return tensor


serving.FRAMEWORKS.update(plain=Plain, torch=Plain)
if __name__ == "__main__":
    serving.main(int(sys.argv[-2]), REPLIES)
