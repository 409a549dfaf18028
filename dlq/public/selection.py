"""Select dead letters with the filters of `GET /v1/DeadLetterQueue`."""

from dlq.api.entry_query import EntryFilters
from dlq.browse.filters import chosen

__all__ = [
    "EntryFilters",
    "chosen",
]
