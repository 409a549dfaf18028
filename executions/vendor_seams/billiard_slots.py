"""The slot of a prefork pool in which this process runs, and the memory of a killed child.

Relies on: `billiard.current_process().index`, which a pool sets on each child, and reuses for the
child that replaces an ended one; `billiard.popen_fork.Popen.poll`, the only method that reaps a
child, and that keeps the exit code in `returncode` (billiard 4.2, 4.3).
No public way: Celery does not report a child's slot in the pool, and notifies the parent of a
killed child only after the kernel has freed its memory figures.
If it breaks: children fail when they start, or counters fall back to zero with each new child; a
step is blamed whenever the OOM killer ended its process.
"""

import os
import signal
from collections.abc import Callable

from billiard import current_process
from billiard.popen_fork import Popen


def slot() -> int:
    """Return the slot of this child in its pool, counted from 0."""
    found: int = current_process().index  # type: ignore[attr-defined]
    return found


def watch_kills(killed: Callable[[int], Callable[[int], None] | None]) -> None:
    """Report the peak memory of each child that was killed by SIGKILL.

    `killed(pid)` is called before the child is reaped. It returns a function that receives the peak
    in KiB before the pool is notified of the end, or None to ignore the child.
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
    """Return whether SIGKILL ended the unreaped child; with flag 0, wait for the child's end."""
    try:
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | (flag & os.WNOHANG))
    except ChildProcessError:
        return False
    return ended is not None and (ended.si_code, ended.si_status) == (
        os.CLD_KILLED,
        signal.SIGKILL,
    )
