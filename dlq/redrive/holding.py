"""A redrive holds its entries: nobody else's redrive sends them."""

from dlq import statements
from dlq.models import Redrive


def hold(redrive: Redrive) -> int:
    """Hold what is still open and free; the rest is skipped, with the reason. How many were.

    The caller has made sure that nobody else holds entries of the workspace at the same time.
    """
    row = statements.fetch_one("redrive_hold", {"redrive": redrive.pk})
    assert row is not None, "it counts"
    return int(row[0])
