"""Run uvicorn with a clean exit code: `python -m valkyr_project.http.server MODULE:APPLICATION …`.

After a graceful shutdown, uvicorn raises the stop signal again for an earlier handler. Without such
a handler, a process that ended normally seems to have been killed (exit code 143).
"""

import gc
import signal
import sys
from types import FrameType

import uvicorn


def main() -> None:
    """Run uvicorn, with its own arguments, until it is stopped."""
    signal.signal(signal.SIGTERM, _end)
    # The garbage collector need not examine imported objects, which stay; asgi.py enables it again.
    # asgi.py is not imported here, because uvicorn sets up logging first, and Django's settings
    # must take precedence.
    gc.disable()
    uvicorn.main()


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
