"""Select rows by any number of ids, because a statement has at most 65,535 parameters."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models.expressions import RawSQL


def among(ids: Iterable[UUID]) -> RawSQL:
    """Return a value for `pk__in`: the ids, as one array."""
    return RawSQL("SELECT unnest(%s::uuid[])", [list(ids)])
