import signal

from executions.vendor_seams.python_signals import current_handler


def test_a_signals_handler_is_the_one_that_python_tells() -> None:
    def handle(signum: int, frame: object) -> None:
        """Do nothing."""

    before = signal.signal(signal.SIGUSR2, handle)
    try:
        assert current_handler(signal.SIGUSR2) is handle
        assert current_handler is not signal.getsignal
    finally:
        signal.signal(signal.SIGUSR2, before)
