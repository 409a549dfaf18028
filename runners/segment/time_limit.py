"""End a step that outstays its time, and never its neighbours.

In a prefork child steps run in the main thread, where a timer can raise. In a thread nothing
can: there the heartbeat fences the row, and the module's own time-outs must end the work.
"""

import signal
import threading
from types import FrameType


class StepTimeout(BaseException):
    """The step's time is over. No Exception, so that `except Exception` cannot swallow it."""


class _Timer:
    armed = False


def _ring(signum: int, frame: FrameType | None) -> None:
    # The signal may arrive just after the step returned; then it is nobody's.
    if _Timer.armed:
        _Timer.armed = False
        raise StepTimeout


class time_limit:  # noqa: N801 - a block, not a thing
    """Raise StepTimeout in the block after so many seconds, where it runs in the main thread."""

    __slots__ = ("here", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.here = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        self.here = True
        if signal.getsignal(signal.SIGALRM) is not _ring:
            signal.signal(signal.SIGALRM, _ring)
        _Timer.armed = True
        signal.setitimer(signal.ITIMER_REAL, max(0.001, self.seconds))

    def __exit__(self, *error: object) -> None:
        if self.here:
            _Timer.armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
