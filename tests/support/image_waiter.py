"""A program of an image that waits until it is ended."""

import signal


def main() -> None:
    """Report that it waits, and wait."""
    print("waits", flush=True)
    signal.pause()
