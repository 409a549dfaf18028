"""Upload a file to S3 through s3fs's file system, in parts, with one part in memory at a time.

s3fs's own files hold each part three times: as a buffer, as bytes, and in the connection's buffer.
"""

from collections.abc import Generator, Iterable
from contextlib import suppress
from itertools import chain
from mmap import mmap
from typing import Any

from executions.sealing.seekable_reader import SeekableReader

# S3's minimum part size in bytes, which limits a file to 48 GiB.
BLOCK = 5 * 1024 * 1024


def write(system: Any, path: str, parts: Iterable[bytes]) -> None:
    """Write a file, which appears when all of its parts are uploaded."""
    bucket, key, _ = system.split_path(path)
    place = {"Bucket": bucket, "Key": key}
    found = blocks(parts)
    first = next(found, None)
    if first is None or first.size < BLOCK:
        system.call_s3("put_object", **place, Body=b"" if first is None else first)
        found.close()
        return
    upload = system.call_s3("create_multipart_upload", **place)["UploadId"]
    try:
        done: list[dict[str, Any]] = []
        for number, block in enumerate(chain([first], found), 1):
            # `block` is a file, so that it is sent in pieces; bytes would be copied to the
            # connection's buffer.
            sent = system.call_s3(
                "upload_part", **place, UploadId=upload, PartNumber=number, Body=block
            )
            done.append({"ETag": sent["ETag"], "PartNumber": number})
        whole = {"Parts": done}
        system.call_s3("complete_multipart_upload", **place, UploadId=upload, MultipartUpload=whole)
    except BaseException:
        with suppress(Exception):
            system.call_s3("abort_multipart_upload", **place, UploadId=upload)
        raise


class UploadPart(SeekableReader):
    """The buffer of one part, outside Python's heap, which would not return the memory afterwards.

    The same buffer is filled for the next part, because the client's objects refer to a body until
    Python's collector finds their cycles. Call `free` after the last part.
    """

    def __init__(self) -> None:
        super().__init__()
        self._memory = mmap(-1, BLOCK)

    def begin(self) -> None:
        """Start a new part: forget the content."""
        self._size = self._position = 0

    def add(self, data: memoryview) -> memoryview:
        """Add data to the part, and return the data that does not fit."""
        room = min(len(data), BLOCK - self._size)
        self._memory[self._size : self._size + room] = data[:room]
        self._size += room
        return data[room:]

    @property
    def size(self) -> int:
        """Return the number of bytes in the part."""
        return self._size

    def readinto(self, buffer: Any) -> int:
        """Read bytes from the current position into the buffer; return their number."""
        found = self._memory[self._position : min(self._size, self._position + len(buffer))]
        buffer[: len(found)] = found
        self._position += len(found)
        return len(found)

    def free(self) -> None:
        """Return the memory to the system."""
        self._memory.close()


def blocks(parts: Iterable[bytes]) -> Generator[UploadPart, None, None]:
    """Yield parts of `BLOCK` bytes (the last may be smaller), always in the same UploadPart."""
    block = UploadPart()
    try:
        for part in parts:
            view = memoryview(part)
            while view:
                view = block.add(view)
                if block.size == BLOCK:
                    yield block
                    block.begin()
        if block.size:
            yield block
    finally:
        block.free()
