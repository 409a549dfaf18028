"""What is due and nobody was sent for is sent: retries, and what the broker did not take."""

from runners import statements
from runners.conf import config
from runners.dispatch.resend import BATCH, resend


def sweep() -> int:
    """Send what is due and not sent yet; returns how many."""
    return resend(statements.fetch("sweep_due", {"batch": BATCH, "patience": config().patience}))
