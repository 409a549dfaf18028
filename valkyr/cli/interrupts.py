"""What Ctrl-C does while a command waits for a server: it ends the process where it is.

As a KeyboardInterrupt it can leave a lock of the HTTP client taken, between the lock's acquisition
and the block that releases it. Closing the client then waits for that lock, for ever.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from valkyr.cli.errors import Exit

SHOW_CURSOR = "\x1b[?25h"


@contextlib.contextmanager
def ends_when_interrupted(text: str = "Interrupted.\n") -> Iterator[None]:
    """Within the block SIGINT prints `text` on standard error and ends the process with 130.

    The outermost block's text is told. A handler of somebody else's stays, and so does a signal
    that is ignored; threads other than the first leave signals as they are.
    """
    first = threading.current_thread() is threading.main_thread()
    if not first or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        # What is being written just now cannot be flushed from here.
        with contextlib.suppress(RuntimeError, OSError, ValueError):
            sys.stdout.flush()
        if sys.stderr.isatty():
            os.write(2, SHOW_CURSOR.encode())
        with contextlib.suppress(OSError):
            os.write(2, text.encode())
        os._exit(Exit.INTERRUPTED)

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
