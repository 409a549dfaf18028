"""How a person or the system asks the stack to stop: Ctrl-C, SIGTERM or a closed terminal."""

import signal
from types import FrameType


class StopRequest:
    """Set by signals; `insisted` by the second one.

    While nothing watches (`interrupts`), a signal raises KeyboardInterrupt, so that the steps of a
    start are cut short like any Python program.
    """

    def __init__(self) -> None:
        """Catch the signals from now on."""
        self.wanted = False
        self.insisted = False
        self.interrupts = True
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._receive)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.insisted = self.wanted
        self.wanted = True
        if self.interrupts:
            self.interrupts = False
            raise KeyboardInterrupt
