"""When and from where a token or session was used last: written at most once a minute."""

import logging
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import Q

from executions.database.clock import ClockTimestamp
from executions.models import AccountSession, ApiToken

log = logging.getLogger(__name__)
NOTED_EVERY = timedelta(minutes=1)


def note(
    model: type[ApiToken | AccountSession],
    pk: UUID,
    last: datetime | None,
    now: datetime,
    address: str | None,
) -> None:
    """Store the use unless `last` is less than a minute ago; does not wait for a locked row."""
    if last is not None and now - last < NOTED_EVERY:
        return
    rows: Any = model._default_manager
    due = Q(last_used_at=None) | Q(last_used_at__lte=now - NOTED_EVERY)
    unlocked = rows.select_for_update(skip_locked=True, no_key=True)
    try:
        with transaction.atomic():
            if unlocked.filter(due, pk=pk).values_list("pk").first():
                rows.filter(pk=pk).update(last_used_at=ClockTimestamp(), last_used_from=address)
    except DatabaseError as error:
        log.warning("The use of %s %s was not noted: %s", model._meta.verbose_name, pk, error)
