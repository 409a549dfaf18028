"""Whether an administrator lets workflows bring Python code along."""

import os

from runners.public.modules import StepError

PYTHON_CODE = "VALKYR_PYTHON_CODE"
OFF = (
    f"Python code in workflows is off: an administrator turns it on by setting {PYTHON_CODE}=1 for "
    "the web process and the workers"
)
SWITCH = {"": False, "0": False, "1": True}


def is_on() -> bool:
    """Whether it is on; raises StepError for a value that says neither."""
    value = os.environ.get(PYTHON_CODE, "")
    if value not in SWITCH:
        raise StepError(f"{PYTHON_CODE} holds {value[:100]!r}: expected 0 or 1")
    return SWITCH[value]
