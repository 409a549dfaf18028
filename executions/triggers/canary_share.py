"""Choose the latest version or the canary version of a workflow, for each start.

The choice depends on a hash of the key that identifies the start. So equal keys use the same
version while the share is unchanged, and a larger share includes the keys of a smaller share.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any
from uuid import UUID

from executions.admission import concurrency
from executions.database.ids import uuid7
from executions.definition.versions import Compiled, compiled
from executions.errors import InvalidPayload
from executions.triggers.request import StartRequest


def takes_canary(version_id: UUID, percent: float, key: str) -> bool:
    """Return whether the start with this key belongs to a canary version's share.

    The first 64 bits of SHA-256 over the version's ID and the key, as a fraction of 2**64, are
    compared with the share. The ID makes each canary choose different keys.
    """
    number = int.from_bytes(sha256(f"{version_id}:{key}".encode()).digest()[:8])
    return number * 100 < percent * 2**64


def with_shares(
    request: StartRequest, payload_list: Sequence[Any], key: str | None = None
) -> list[StartRequest]:
    """Return a request for each payload: for the latest version, or for the canary version.

    `request` is for the latest version. The concurrency key that this version renders decides;
    without one, the idempotency `key` decides, and without either, the execution's ID. Uses no
    query for versions in this process's cache.
    """
    version_id, percent = request.workflow.canary_version_id, request.workflow.canary_percent
    if version_id is None or percent is None:
        return [request] * len(payload_list)
    canary = compiled(version_id)
    return [
        _chosen(request, canary, percent, customer or key)
        for customer in _customers(request, payload_list)
    ]


def _chosen(
    request: StartRequest, canary: Compiled, percent: float, key: str | None
) -> StartRequest:
    own_id = uuid7()
    if takes_canary(canary.id, percent, key or str(own_id)):
        return replace(request, version=canary, canary=True, ids=(own_id,))
    return replace(request, ids=(own_id,))


def by_version(requests: Sequence[StartRequest]) -> Iterator[tuple[StartRequest, list[int]]]:
    """Yield a request for each version, and the indexes of the version's payloads in the batch."""
    for canary in (False, True):
        numbers = [n for n, request in enumerate(requests) if request.canary is canary]
        if numbers:
            ids = tuple(own_id for n in numbers for own_id in requests[n].ids)
            yield replace(requests[numbers[0]], ids=ids), numbers


def _customers(request: StartRequest, payload_list: Sequence[Any]) -> list[str | None]:
    """Return the concurrency keys as strings, and None for payloads without a key.

    If a key cannot be rendered, all are None: a start of this version is rejected later.
    """
    rule = request.version.graph.concurrency
    try:
        keys = concurrency.render_all(rule, request.workflow.pk, payload_list)
    except InvalidPayload:
        return [None] * len(payload_list)
    return [None if key is None else key.text for key in keys]
