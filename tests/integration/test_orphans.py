"""A child of a pool whose worker was killed before the child had begun ends, too."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, time
from runners.process import parent as own

own.remember()
parent = os.getpid()
if os.fork() == 0:
    while {waits} and os.getppid() == parent:
        time.sleep(0.01)
    own.end_without()
    print("goes on", flush=True)
    os._exit(0)
if not {waits}:
    os.wait()
os._exit(0)
"""


@pytest.mark.parametrize(("waits", "said"), [(True, ""), (False, "goes on\n")])
def test_a_child_ends_if_its_parent_is_gone(waits: bool, said: str) -> None:
    # The child holds the pipe, so this returns when it has ended.
    program = [sys.executable, "-c", PROGRAM.format(waits=waits)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.stdout == said
