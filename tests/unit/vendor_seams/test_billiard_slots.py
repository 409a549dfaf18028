"""A child of a billiard pool knows its slot, and its replacement gets the same slot."""

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

KILLED = """
import os, signal, time
from billiard.pool import Pool
from executions.vendor_seams.billiard_slots import watch_kills

def take(mebibytes):
    held = b"x" * (mebibytes * 2**20)
    os.kill(os.getpid(), signal.SIGKILL)

said = []

def killed(pid):
    state = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
    return lambda peak: said.append((state, peak // 1024))

if __name__ == "__main__":
    watch_kills(killed)
    with Pool(1, lost_worker_timeout=0.1) as pool:
        try:
            pool.apply(take, (200,))
        except Exception as error:
            print("signal 9" in str(error), end=" ")
        [(state, peak)] = said
        print(state, 200 <= peak < 400)
"""


def said_by(program: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_six_children_one_after_the_other_have_two_slots() -> None:
    done = said_by(POOL)

    assert done.stdout.split(maxsplit=1) == ["6", "[0, 1]\n"], (
        f"billiard has changed: see executions/vendor_seams/billiard_slots.py\n{done.stderr}"
    )


def test_of_a_killed_child_the_most_memory_is_known_before_it_is_reaped() -> None:
    done = said_by(KILLED)

    assert done.stdout == "True Z True\n", (
        f"billiard has changed: see executions/vendor_seams/billiard_slots.py\n{done.stderr}"
    )
