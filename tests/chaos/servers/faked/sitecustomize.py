"""Read at the start of a Python under libfaketime, whose `clock_nanosleep` fails with EINVAL.

Python sleeps by it since 3.11; `select` waits as long, by the clock that is left alone.
"""

import select
import time


def _sleep(seconds: float) -> None:
    select.select([], [], [], seconds)


time.sleep = _sleep
