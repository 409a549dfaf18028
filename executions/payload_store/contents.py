"""Stored content: bytes of any kind that a module writes to the store and reads from it, in parts.

The digest is known only when all parts are written. So the ID alone names the file, and equal
content is stored twice. As for other values, the use is committed before the file is written.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from hashlib import sha256
from typing import Any, BinaryIO
from uuid import UUID

from django.db import DatabaseError

from executions.configuration import settings as valkyr_settings
from executions.database import transaction
from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.errors import PayloadError
from executions.models import StoredPayload, StoredPayloadUse
from executions.payload_store import reading, writing
from executions.payload_store.references import BEGINNING, content_reference, content_stem
from executions.payloads import StoredReference
from executions.sealing import payload_keys


class Contents:
    """Stores and opens content for an execution; stored content is sealed with `key`, if given."""

    def __init__(self, workspace_id: UUID, execution_id: UUID, key: int | None) -> None:
        self._workspace_id, self._execution_id = workspace_id, execution_id
        self._key = key

    def store(self, parts: Iterable[bytes], media_type: str) -> StoredReference:
        """Write content to the store, and return its reference. Call it outside any transaction.

        Raises PayloadError above the limit, PayloadStoreUnavailable, the errors of sealing, and
        what `parts` raises.
        """
        if self._key is not None:
            payload_keys.opened(self._key)
        row = self._declared()
        counted = _Counted(parts, valkyr_settings().payload_content_limit)
        try:
            writing.write(self._workspace_id, row, counted)
        except Exception:
            # No row will refer to the value, so the collector deletes the rest.
            with suppress(DatabaseError):
                StoredPayloadUse.objects.filter(payload=row).delete()
            raise
        digest = counted.digest.hexdigest()
        StoredPayload.objects.filter(pk=row.pk).update(
            size=counted.size, content_digest=digest, stored_at=ClockTimestamp()
        )
        return content_reference(
            row.pk, digest, counted.size, row.sealing_key, media_type, counted.beginning
        )

    def open(self, reference: dict[str, Any]) -> AbstractContextManager[BinaryIO]:
        """Open stored content for reading. Raises the errors of `reading.opened`.

        The file supports seeking to any position.
        """
        return reading.opened(self._workspace_id, reference)

    def _declared(self) -> StoredPayload:
        made = uuid7()
        with transaction.atomic():
            row = StoredPayload.objects.create(
                id=made,
                workspace_id=self._workspace_id,
                digest=content_stem(made),
                sealing_key=self._key or 0,
                size=0,
            )
            StoredPayloadUse.objects.create(payload=row, holder_id=self._execution_id)
        return row


class _Counted:
    """The parts to write, with their total size, their digest and their beginning."""

    def __init__(self, parts: Iterable[bytes], limit: int) -> None:
        self._parts, self._limit = parts, limit
        self.size, self.digest, self.beginning = 0, sha256(), b""

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            self.size += len(part)
            if self.size > self._limit:
                raise PayloadError(
                    f"The content has more than {self._limit:,} bytes; at most that many are "
                    "stored. Raise VALKYR_PAYLOAD_CONTENT_LIMIT."
                )
            self.digest.update(part)
            if len(self.beginning) < BEGINNING:
                self.beginning += part[: BEGINNING - len(self.beginning)]
            yield part
