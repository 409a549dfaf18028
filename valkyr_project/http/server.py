"""uvicorn, ending as asked: `python -m valkyr_project.http.server MODULE:APPLICATION …`.

After its graceful end uvicorn raises the signal that it was sent once more, for whoever handled it
before; where nobody did, a web process that ended in order looks killed (exit code 143).
"""

import gc
import signal
import sys
from types import FrameType

import uvicorn


def main() -> None:
    """Serve until asked to end; takes uvicorn's own arguments."""
    signal.signal(signal.SIGTERM, _end)
    # The collector need not look through what is imported and stays; asgi.py turns it on again.
    # Not imported here: uvicorn sets logging up first, and Django's settings have the last word.
    gc.disable()
    uvicorn.main()


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
