"""The common part of readable, seekable files of a known size."""

import os
from io import RawIOBase


class SeekableReader(RawIOBase):
    """A readable file of `size` bytes; classes that extend it define `readinto`."""

    def __init__(self, size: int = 0) -> None:
        super().__init__()
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        """Return True: the file is readable."""
        return True

    def seekable(self) -> bool:
        """Return True: the file can seek."""
        return True

    def tell(self) -> int:
        """Return the current position, in bytes from the start of the file."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position to `offset` bytes from `whence`, and return the position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position
