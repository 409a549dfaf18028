"""Open a workspace's credentials for steps, by name, with their boundaries."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from executions.credentials.boundary import Boundary
from executions.database import transaction
from executions.database.clock import ClockTimestamp
from executions.models import Credential
from executions.sealing import KeyUnknown, Sealed, place_of, seal, unseal

# The sealed column of one credential: a JSON object of its fields, bound to the row.


def closed(credential_id: UUID, fields: dict[str, str]) -> Sealed:
    """Return the fields sealed for the row, in the transaction that stores them."""
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    return seal(text.encode(), place_of(Credential(pk=credential_id)))


def opened(credential_id: UUID, sealed: bytes | memoryview) -> dict[str, str]:
    """Return the opened fields; raises SealBroken."""
    fields: dict[str, str] = json.loads(unseal(sealed, place_of(Credential(pk=credential_id))))
    return fields


BOUNDARY = ("hosts", "modules", "workflows", "remote")
# How old `last_used_at` may get before a use writes it again.
NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, repr=False)
class OpenedCredential:
    """The fields of a credential, and its boundary."""

    fields: dict[str, str]
    boundary: Boundary


def opened_of(workspace_id: UUID, names: Collection[str]) -> dict[str, OpenedCredential]:
    """Return each credential by name, without unknown names.

    One query for all; another once a minute, which notes the use without waiting. Raises SealBroken
    for an unreadable value, and the errors of `sealing.unseal`.
    """
    if not names:
        return {}
    try:
        found = _opened(workspace_id, names)
    except KeyUnknown:
        # The value was resealed, and its old key retired, between our reading it and opening the
        # keyset.
        found = _opened(workspace_id, names)
    return found


def values_of(workspace_id: UUID, names: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the fields of `opened_of`."""
    return {name: one.fields for name, one in opened_of(workspace_id, names).items()}


def boundaries_of(workspace_id: UUID, names: Collection[str]) -> dict[str, Boundary]:
    """Return the boundary of each credential by name, without its values or unknown names."""
    if not names:
        return {}
    rows = Credential.objects.filter(workspace_id=workspace_id, name__in=names)
    return {name: _boundary(*lists) for name, *lists in rows.values_list("name", *BOUNDARY)}


def _opened(workspace_id: UUID, names: Collection[str]) -> dict[str, OpenedCredential]:
    rows = Credential.objects.filter(workspace_id=workspace_id, name__in=names)
    found, unnoted = {}, []
    for pk, name, sealed, is_due, *lists in rows.annotate(due=_due()).values_list(
        "id", "name", "sealed", "due", *BOUNDARY
    ):
        found[name] = OpenedCredential(opened(pk, sealed), _boundary(*lists))
        if is_due:
            unnoted.append(pk)
    if unnoted:
        _note(unnoted)
    return found


def _boundary(hosts: Any, modules: Any, workflows: Any, remote: bool) -> Boundary:
    return Boundary(tuple(hosts), tuple(modules), tuple(workflows), remote)


def _due() -> Any:
    return Q(last_used_at__isnull=True) | Q(last_used_at__lt=ClockTimestamp() - NOTED_EVERY)


def _note(ids: list[UUID]) -> None:
    """Note their use now; skip rows that are being changed."""
    with transaction.atomic():
        free: QuerySet[Any, Any] = Credential.objects.select_for_update(
            skip_locked=True, no_key=True
        ).filter(_due(), pk__in=ids)
        held = list(free.values_list("id", flat=True))
        Credential.objects.filter(pk__in=held).update(last_used_at=ClockTimestamp())
