"""A redrive is made: its entries are frozen, nothing runs yet."""

from django.db.models import QuerySet

from dlq.models import DeadLetterEntry, Redrive
from dlq.redrive.wish import Wish
from executions.actor import Actor

__all__ = ["MOST", "Wish", "make"]

MOST = 100_000


def make(rows: QuerySet[DeadLetterEntry], wish: Wish, *, actor: Actor) -> Redrive:
    """A draft of the open entries among `rows`, the oldest `MOST` of them, as they are now.

    `rows` are what the caller may redrive, in one workspace. A draft holds nothing, and is
    deleted after a day. Raises InvalidRedrive.
    """
    raise NotImplementedError
