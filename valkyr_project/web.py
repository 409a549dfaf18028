"""uvicorn, ending as asked: `python -m valkyr_project.web valkyr_project.asgi:application …`.

After its graceful end uvicorn raises the signal that it was sent once more, for whoever handled it
before; where nobody did, a web process that ended in order looks killed (exit code 143).
"""

import gc
import importlib
import signal
import sys
from types import FrameType

import uvicorn


def main() -> None:
    """Serve until asked to end; takes uvicorn's own arguments."""
    signal.signal(signal.SIGTERM, _end)
    # What is imported stays: the collector need not look through it, now or later.
    gc.disable()
    importlib.import_module("valkyr_project.asgi")
    gc.freeze()
    gc.enable()
    uvicorn.main()


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
