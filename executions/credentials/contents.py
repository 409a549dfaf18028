"""The sealed column of one credential: a JSON object of its fields, bound to the row."""

import json
from uuid import UUID

from executions.models import Credential
from executions.sealing import Sealed, place_of, seal, unseal


def closed(credential_id: UUID, fields: dict[str, str]) -> Sealed:
    """The fields sealed for the row; in the transaction that stores them."""
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    return seal(text.encode(), place_of(Credential(pk=credential_id)))


def opened(credential_id: UUID, sealed: bytes | memoryview) -> dict[str, str]:
    """The fields; raises SealBroken."""
    fields: dict[str, str] = json.loads(unseal(sealed, place_of(Credential(pk=credential_id))))
    return fields
