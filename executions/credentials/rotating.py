"""Values whose issuer replaces the credential's own secret, such as a rotating refresh token.

A refresh token works only once, so only one process at a time may request values. It claims the
credential, sends the request without holding a database connection, and stores the new secret and
the issued values, sealed. The other processes read the stored values. If the process dies, its
claim ends after CLAIMED_SECONDS.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q

from executions import sealing
from executions.credentials.issuing import (
    LONGEST_MARGIN,
    SHARE,
    CredentialSource,
    Issued,
    Issuer,
    IssuerBusy,
)
from executions.credentials.opening import ISSUED, closed, opened
from executions.database import transaction
from executions.database.clock import ClockTimestamp
from executions.models import Credential

CLAIMED_SECONDS = 30
WAIT_SECONDS = 8.0  # maximum wait for the process that has the claim
LOOK_SECONDS = 0.2


def issue(
    source: CredentialSource, before: Issued | None, issuer: Issuer, rest: Callable[[], None]
) -> Issued:
    """Return the stored values while they are valid; otherwise claim, request and store new ones.

    `rest` releases the connection before the request. Raises IssuerBusy, and the issuer's errors.
    """
    until = time.monotonic() + WAIT_SECONDS
    while True:
        found = _stored(source)
        if found is not None:
            return found
        if _claim(source):
            return _replace(source, before, issuer, rest)
        if time.monotonic() >= until:
            raise IssuerBusy
        rest()
        time.sleep(LOOK_SECONDS)


def without_issued(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the fields without the hidden field that stores issued values."""
    return {name: value for name, value in fields.items() if name != ISSUED}


def _replace(
    source: CredentialSource, before: Issued | None, issuer: Issuer, rest: Callable[[], None]
) -> Issued:
    """Return values stored meanwhile, or request and store new ones; then release the claim."""
    try:
        # Another process may have stored new values and released its claim since the last check.
        found = _stored(source)
        if found is None:
            latest = replace(source, fields=without_issued(_fields(source)))
            sealing.prepare()
            rest()
            found = issuer(latest, before)
            _store(latest, found)
            return found
    except BaseException:
        _free(source)
        raise
    _free(source)
    return found


def _free(source: CredentialSource) -> None:
    Credential.objects.filter(pk=source.id).update(refreshing_until=None)


def _fields(source: CredentialSource) -> dict[str, str]:
    sealed = Credential.objects.values_list("sealed", flat=True).get(pk=source.id)
    return opened(source.id, sealed)


def _stored(source: CredentialSource) -> Issued | None:
    """Return the last issued values; None if they are missing, were rejected, or expire soon."""
    text = _fields(source).get(ISSUED)
    if not text:
        return None
    kept: dict[str, Any] = json.loads(text)
    left = float(kept["ends"]) - time.time()
    margin = min(LONGEST_MARGIN, float(kept["seconds"]) * SHARE)
    if left <= margin or kept["fields"] == source.rejected:
        return None
    return Issued(kept["fields"], left)


def _claim(source: CredentialSource) -> bool:
    free = Q(refreshing_until=None) | Q(refreshing_until__lt=ClockTimestamp())
    until = ClockTimestamp() + timedelta(seconds=CLAIMED_SECONDS)
    return bool(Credential.objects.filter(free, pk=source.id).update(refreshing_until=until))


def _store(source: CredentialSource, found: Issued) -> None:
    """Seal and store the new secret and values, unless a user has changed the secret since."""
    with transaction.atomic():
        row = Credential.objects.select_for_update(no_key=True).get(pk=source.id)
        now = opened(row.pk, row.sealed)
        row.refreshing_until = None
        changed = ["refreshing_until"]
        if all(now.get(name) == source.fields.get(name) for name in found.store):
            seal_issued(row, now | dict(found.store), found)
            changed += ["sealed", "key_id", "issued_until"]
        row.save(update_fields=changed)


def seal_issued(row: Credential, fields: Mapping[str, str], found: Issued) -> None:
    """Set the sealed fields of a row together with the issued values, without saving the row."""
    ends = time.time() + found.seconds
    kept = {"fields": found.fields, "seconds": found.seconds, "ends": ends}
    sealed = closed(row.pk, without_issued(fields) | {ISSUED: json.dumps(kept)})
    row.sealed, row.key_id = sealed.value, sealed.key_id
    row.issued_until = datetime.fromtimestamp(ends, UTC)
