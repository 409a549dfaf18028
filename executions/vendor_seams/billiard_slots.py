"""The slot of a prefork pool in which this process runs, and how much a killed child held.

Relies on: `billiard.current_process().index`, which a pool sets on each child, and gives again to
the child that replaces one that ended; `billiard.popen_fork.Popen.poll`, which alone reaps
children and keeps what it found in `returncode` (billiard 4.2, 4.3).
No public way: Celery tells a child nothing of its place in the pool, and the parent that a child
was killed only after the kernel has forgotten how much memory it held.
If it breaks: children fail when they start, or counters fall back to zero with each new child; a
step whose process the OOM killer chose is blamed for it.
"""

import os
import signal
from collections.abc import Callable

from billiard import current_process
from billiard.popen_fork import Popen


def slot() -> int:
    """The place of this child in its pool, counted from 0."""
    found: int = current_process().index  # type: ignore[attr-defined]
    return found


def watch_kills(killed: Callable[[int], Callable[[int], None] | None]) -> None:
    """Say of each child that was killed by SIGKILL the most memory that it ever held.

    `killed(pid)` is called while the child is not reaped. It returns whom to tell how many KiB that
    was, before the pool hears of the end; or None where that is of no interest.
    """
    reap = Popen.poll

    def poll(child: Popen, flag: int = os.WNOHANG) -> int | None:
        if child.returncode is None and _killed(child.pid, flag):
            tell = killed(child.pid)
            if tell is not None:
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                tell(used.ru_maxrss)
        code: int | None = reap(child, flag)
        return code

    Popen.poll = poll  # type: ignore[method-assign, assignment]


def _killed(pid: int, flag: int) -> bool:
    """Whether the child was killed and waits to be reaped; with flag 0 this waits for its end."""
    try:
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | (flag & os.WNOHANG))
    except ChildProcessError:
        return False
    return ended is not None and (ended.si_code, ended.si_status) == (
        os.CLD_KILLED,
        signal.SIGKILL,
    )
