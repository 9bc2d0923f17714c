"""Stands for an interpreter with CuPy and PyTorch on a machine with a GPU: answers as its answers file says.

Started as the interpreter is: the script (not run), the package, the numbers of two pipes. Every request is written to a
log, so that a test sees who was asked, and in which order.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

answers = json.loads(Path(os.environ["FAKE_ANSWERS"]).read_text())
package, requests, replies = sys.argv[-3:]
with os.fdopen(int(requests)) as lines:
    for line in lines:
        asked = json.loads(line)
        with Path(os.environ["FAKE_LOG"]).open("a") as log:
            log.write(f"{package} {asked['do']}\n")
        answer = answers.get(package, {}).get(
            asked["do"], {"raised": f"ModuleNotFoundError: No module named '{package}'"}
        )
        if answer == "crash":
            os._exit(3)
        os.write(int(replies), json.dumps(answer).encode() + b"\n")
