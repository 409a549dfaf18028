"""Run a process with a wrong clock, by libfaketime."""

from pathlib import Path

from tests.chaos.needs import faketime_library

FAKED = Path(__file__).with_name("faked")


def off_by(seconds: int) -> dict[str, str]:
    """Return the variables of a process (and its children) whose wall clock is `seconds` ahead.

    The monotonic clock stays correct, as on a machine whose clock is wrong.
    """
    library = faketime_library()
    assert library is not None, "libfaketime is not here: apt-get install faketime"
    return {
        "LD_PRELOAD": library,
        "FAKETIME": f"{seconds:+d}s",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "PYTHONPATH": str(FAKED),
    }
