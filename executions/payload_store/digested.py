"""The content of a stored value; its size and its digest are checked while it is read."""

import os
from hashlib import sha256
from typing import Any

from executions.payload_store.errors import StoredValueBroken
from executions.sealing.seekable_reader import SeekableReader


class DigestedFile(SeekableReader):
    """Reads a stored value; raises StoredValueBroken at the end if the digest or the size differs.

    The digest is checked only if the value is read from its beginning to its end. The bytes of a
    sealed file are authentic at any position.
    """

    def __init__(self, content: Any, name: str, digest: str, size: int) -> None:
        super().__init__(size)
        self._content, self._name, self._expected = content, name, digest
        self._digest = sha256()
        self._hashed = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position in the value to `offset` from `whence`; return the new position."""
        self._content.seek(super().seek(offset, whence))
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read some bytes into the buffer, and return their number; check the digest at the end."""
        part = self._content.read(len(buffer))
        buffer[: len(part)] = part
        if self._position == self._hashed:
            self._digest.update(part)
            self._hashed += len(part)
        self._position += len(part)
        if self._hashed >= self._size or not part:
            self._check()
        return len(part)

    def _check(self) -> None:
        whole = self._hashed == self._position
        if whole and (self._hashed != self._size or self._digest.hexdigest() != self._expected):
            raise StoredValueBroken(
                f"The stored value {self._name} differs from its digest. Restore it from a backup."
            )
        if not whole and self._position < self._size:
            raise StoredValueBroken(
                f"The stored value {self._name} is cut off. Restore it from a backup."
            )
