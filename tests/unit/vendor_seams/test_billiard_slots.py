"""A child of a billiard pool knows its slot, which the child that replaces it gets again."""

import subprocess
import sys

from tests.support.stack import PROJECT

POOL = """
import os
from billiard.pool import Pool
from executions.vendor_seams.billiard_slots import slot

def child(_):
    return os.getpid(), slot()

if __name__ == "__main__":
    with Pool(2, maxtasksperchild=1) as pool:
        found = pool.map(child, range(6), chunksize=1)
    print(len({pid for pid, _ in found}), sorted({slot for _, slot in found}))
"""


def test_six_children_one_after_the_other_have_two_slots() -> None:
    done = subprocess.run(
        [sys.executable, "-c", POOL],
        cwd=PROJECT,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stdout.split(maxsplit=1) == ["6", "[0, 1]\n"], (
        f"billiard has changed: see executions/vendor_seams/billiard_slots.py\n{done.stderr}"
    )
