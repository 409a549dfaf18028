"""The content of a stored value; its size and its digest are checked while it is read."""

import os
from hashlib import sha256
from io import RawIOBase
from typing import Any

from executions.payload_store.errors import StoredValueBroken


class DigestedFile(RawIOBase):
    """An open content that raises StoredValueBroken at its end if it differs from its digest.

    Only a content that is read from its beginning to its end has a digest to compare. The bytes of
    a sealed file are authentic at any position.
    """

    def __init__(self, content: Any, name: str, digest: str, size: int) -> None:
        super().__init__()
        self._content, self._name = content, name
        self._expected, self._size = digest, size
        self._digest = sha256()
        self._position = self._hashed = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = int(self._content.seek(max(0, base + offset)))
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Read some bytes; at the end, check what was read."""
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
