"""Loaded at the start of a Python under libfaketime, whose `clock_nanosleep` fails with EINVAL.

Python has used that call to sleep since 3.11. Here, it sleeps with `select` for the same time,
measured by the correct clock.
"""

import select
import time


def _sleep(seconds: float) -> None:
    select.select([], [], [], seconds)


time.sleep = _sleep
