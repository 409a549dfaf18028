"""End the process immediately on Ctrl-C while a command waits for a server.

A KeyboardInterrupt can leave the HTTP client's lock held, if it arrives between the lock's
acquisition and the block that releases it. Closing the client then waits for that lock forever.
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
    """In the block, make SIGINT print `text` on standard error and end the process with code 130.

    If blocks are nested, the text of the outermost one is printed. Has no effect if SIGINT is
    ignored or has another handler, or in a thread other than the main one.
    """
    first = threading.current_thread() is threading.main_thread()
    if not first or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def end(_number: int, _frame: FrameType | None) -> None:
        # Output that is just being written cannot be flushed from a signal handler.
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
