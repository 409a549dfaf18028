"""Retries whose time has come are sent."""

from runners import statements
from runners.conf import config
from runners.resend import BATCH, resend


def sweep() -> int:
    """Send due retries of running executions; returns how many."""
    return resend(statements.fetch("sweep_due", {"batch": BATCH, "patience": config().patience}))
