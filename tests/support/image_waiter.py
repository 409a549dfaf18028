"""A program of an image that waits until it is ended."""

import signal


def main() -> None:
    """Say that it waits, and do so."""
    print("waits", flush=True)
    signal.pause()
