"""Seal a file in frames, so that neither the writer nor the reader holds the whole file in memory.

A file begins with a header: `valkyr`, the format's version, the size of a frame, and a random salt.
HMAC-SHA-256 derives the file's key from the workspace's key and the header. AES-256-GCM with this
key seals each frame, bound to the header, the workspace, the file's name, the frame's number, and
whether it is the last. So a missing, repeated, moved or foreign frame does not open.

Tink's streaming AEAD is not suitable: its readers in Python cannot seek, which batches of a CSV
require.
"""

import os
import struct
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO
from uuid import UUID

from executions.sealing import payload_keys
from executions.sealing.errors import SealBroken
from executions.sealing.installation_key import Aead
from executions.sealing.seekable_reader import SeekableReader

MAGIC, VERSION = b"valkyr", 1
HEADER = struct.Struct(">6sHI16s")
NUMBER = struct.Struct(">QB")
FRAME = 256 * 1024
# Bytes of the nonce and of the tag of AES-GCM.
OVERHEAD = 12 + 16


def seal(parts: Iterable[bytes], where: str, key: int) -> Iterator[bytes]:
    """Yield the parts of a file in sealed form; `where` is the file's name.

    Raises the errors of `payload_keys.opened`.
    """
    found = payload_keys.opened(key)
    header = HEADER.pack(MAGIC, VERSION, FRAME, os.urandom(16))
    aead, bound = found.derived(header), _bound(header, found.workspace_id, where)
    yield header
    for number, (frame, last) in enumerate(_frames(parts)):
        yield aead.encrypt(frame, bound + NUMBER.pack(number, last))


class SealedFile(SeekableReader):
    """Reads the content of a sealed file at any position; only one frame is in memory.

    Raises SealBroken for a header or frame that does not open. `size` is the content's size.
    """

    def __init__(
        self, source: BinaryIO, where: str, key: int, workspace_id: UUID, size: int
    ) -> None:
        super().__init__(size)
        self._source, self._where = source, where
        self._aead, self._bound = self._opened(key, workspace_id)
        self._last = max(1, -(-size // FRAME)) - 1
        self._number, self._frame = -1, b""
        self._at = HEADER.size  # position in the source

    def readinto(self, buffer: Any) -> int:
        """Read bytes from one frame into the buffer; return their number."""
        number, start = divmod(self._position, FRAME)
        # Even empty content has one frame, which proves that nothing was cut off.
        if number > self._last or (self._position >= self._size > 0):
            return 0
        if number != self._number:
            self._frame, self._number = self._read(number), number
        found = memoryview(self._frame)[start : start + len(buffer)]
        buffer[: len(found)] = found
        self._position += len(found)
        return len(found)

    def _opened(self, key: int, workspace_id: UUID) -> tuple[Aead, bytes]:
        header = self._source.read(HEADER.size)
        found = payload_keys.opened(key)
        if len(header) < HEADER.size or found.workspace_id != workspace_id:
            raise self._broken("was changed, or belongs to another workspace")
        _, version, frame, _ = HEADER.unpack(header)
        if (version, frame) != (VERSION, FRAME):
            raise self._broken(
                f"has format {version} with frames of {frame} bytes; this version of Valkyr reads "
                f"format {VERSION}"
            )
        return found.derived(header), _bound(header, workspace_id, self._where)

    def _read(self, number: int) -> bytes:
        import tink

        begin = HEADER.size + number * (FRAME + OVERHEAD)
        if self._at != begin:
            self._source.seek(begin)
        last = number == self._last
        # For the last frame, read one byte more than it may have, because nothing may follow it.
        size = self._size - number * FRAME + OVERHEAD + 1 if last else FRAME + OVERHEAD
        sealed = _exactly(self._source, size)
        self._at = begin + len(sealed)
        try:
            return bytes(self._aead.decrypt(sealed, self._bound + NUMBER.pack(number, last)))
        except tink.TinkError:
            raise self._broken(
                f"was changed or cut off (frame {number}), or belongs to another workspace"
            ) from None

    def _broken(self, problem: str) -> SealBroken:
        return SealBroken(f"The sealed value of {self._where} cannot be opened: it {problem}.")


def _frames(parts: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield each frame of the content, and whether it is the last; yields at least one."""
    buffer = bytearray()
    for part in parts:
        buffer += part
        while len(buffer) > FRAME:
            yield bytes(memoryview(buffer)[:FRAME]), False
            del buffer[:FRAME]
    yield bytes(buffer), True


def _bound(header: bytes, workspace_id: UUID, where: str) -> bytes:
    return header + f"valkyr.payload|{workspace_id}|{where}|".encode()


def _exactly(source: BinaryIO, size: int) -> bytes:
    """Return `size` bytes of the file, or fewer at its end."""
    found = source.read(size)
    if len(found) == size or not found:
        return found
    more = [found]
    left = size - len(found)
    while left and (part := source.read(left)):
        more.append(part)
        left -= len(part)
    return b"".join(more)
