"""A worker with threads has two arenas of glibc's allocator, unless its environment says more."""

import os
import platform
import subprocess
import sys

import pytest

# Each of 32 threads allocates in C while the others do; malloc_info lists the arenas as heaps.
PROGRAM = """
import ctypes, sys, tempfile, threading
from runners.process.memory_limit import limit_arenas

limit_arenas()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.fopen.restype = ctypes.c_void_p, ctypes.c_void_p
together = threading.Barrier(32)

def allocate():
    together.wait()
    for _ in range(100):
        libc.malloc(5000)
    together.wait()

threads = [threading.Thread(target=allocate) for _ in range(32)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with tempfile.NamedTemporaryFile() as file:
    stream = libc.fopen(file.name.encode(), b"w")
    libc.malloc_info(0, ctypes.c_void_p(stream))
    libc.fclose(ctypes.c_void_p(stream))
    sys.stdout.write(str(file.read().count(b"<heap ")))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the arenas are glibc's")
@pytest.mark.parametrize(("environment", "least", "most"), [("", 1, 2), ("8", 3, 8)])
def test_threads_share_two_arenas(environment: str, least: int, most: int) -> None:
    arenas = subprocess.check_output(
        [sys.executable, "-c", PROGRAM], env=os.environ | {"MALLOC_ARENA_MAX": environment}
    )

    assert least <= int(arenas) <= most
