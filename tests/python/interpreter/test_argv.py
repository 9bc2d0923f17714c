"""Seeds out of the environment and of command lines that a program, or docopt, takes apart itself."""

from __future__ import annotations

import pytest

from tests.python.judging.test_causes import found

DRAWS = """
if seed is not None:
    np.random.seed(int(seed))
print(np.random.rand(3))
"""
IMPORTS = "import os\nimport sys\nimport numpy as np\n"
USAGE = '''"""Draw.

Usage: draw.py [options]

Options:
    --seed=<n>        Random seed
                      of all numbers.{default}
    -v, --verbose     Say more.
"""
from docopt import docopt
import numpy as np
'''
LETTERS = """
import getopt
seed = None
options, rest = getopt.getopt(sys.argv[1:], "hs:", ["help", "seed="])
for option, given in options:
    if option in ("-s", "--seed"):
        seed = int(given)
"""


def _when(source: str) -> list[tuple[str, ...]]:
    return [one.when for one in found(source, "unseeded-numpy", "partial-seed")]


@pytest.mark.parametrize(
    ("source", "when"),
    [
        (IMPORTS + "seed = os.environ.get('SEED')" + DRAWS, "the environment variable SEED is not given"),
        (IMPORTS + "seed = os.getenv('MY_SEED', None)" + DRAWS, "the environment variable MY_SEED is not given"),
        (
            IMPORTS + "seed = int(os.environ['SEED']) if 'SEED' in os.environ else None" + DRAWS,
            "the environment variable SEED is not given",
        ),
        (IMPORTS + "seed = sys.argv[1] if len(sys.argv) > 1 else None" + DRAWS, "`len(sys.argv)` <= 1"),
        (IMPORTS + LETTERS + DRAWS, "--seed is not given"),
        (USAGE.format(default="") + "seed = docopt(__doc__)['--seed']" + DRAWS, "--seed is not given"),
    ],
)
def test_where_no_seed_is_given_nothing_is_seeded(source: str, when: str) -> None:
    ((first, *_),) = _when(source)
    assert first == when


@pytest.mark.parametrize(
    "source",
    [
        IMPORTS + "seed = os.environ.get('SEED', '1')" + DRAWS,
        IMPORTS + "seed = os.environ.get('SEED') or 1" + DRAWS,
        IMPORTS + "os.environ['SEED'] = '1'\nseed = os.environ.get('SEED')" + DRAWS,
        IMPORTS + "if len(sys.argv) != 2:\n    sys.exit('which seed?')\nseed = sys.argv[1]" + DRAWS,
        USAGE.format(default=" [default: 1]") + "seed = docopt(__doc__)['--seed']" + DRAWS,
    ],
)
def test_a_default_seed_and_one_that_is_asked_for_are_seeds(source: str) -> None:
    assert _when(source) == []


@pytest.mark.parametrize("source", [LETTERS, "seed = sys.argv[1] if len(sys.argv) > 1 else None"])
def test_the_words_that_a_program_is_judged_with_are_known(source: str) -> None:
    argv = ("--seed", "3") if source is LETTERS else ("3",)
    assert found(IMPORTS + source + DRAWS, "unseeded-numpy", argv=argv) == []
    assert found(IMPORTS + source + DRAWS, "unseeded-numpy", argv=()) != []
