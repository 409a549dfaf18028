"""S3 as a store. The step's time limit applies to requests, and its size limit to responses."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, BinaryIO

from executions.public.s3_parts import blocks
from runners.public.modules import StepError
from valkyr_plugins.connectors.files.s3.connection import (
    ObjectExists,
    ObjectMissing,
    PastEnd,
    S3Connection,
    failure_of,
)
from valkyr_plugins.connectors.files.s3.endpoint import endpoint_of
from valkyr_plugins.connectors.files.store import (
    PART,
    Facts,
    FileLocation,
    Mode,
    Where,
    equal,
)

PAGE = 1_000


class S3Store:
    """The objects of buckets at one endpoint, accessed with one credential or anonymously."""

    def __init__(self, where: Where, remaining: Callable[[], float]) -> None:
        endpoint = endpoint_of(where.endpoint, where.region)
        self._connection = S3Connection(endpoint, where.credential)
        self._remaining = remaining

    def read(self, place: FileLocation, start: int, most: int) -> tuple[bytes, Facts]:
        """Return at most `most` bytes from byte `start` on, and the object's metadata.

        A range after the end is empty.
        """
        asked = {"Range": f"bytes={start}-{start + most - 1}"} if start else {}
        try:
            answer, data = self._ask(place, partial(self._read, place, most, asked))
        except PastEnd:
            return b"", _facts(place, self._call(place, "head_object"))
        total = str(answer.get("ContentRange", "")).rpartition("/")[2]
        size = int(total) if total.isdigit() else int(answer.get("ContentLength", len(data)))
        return data, _facts(place, answer, size)

    def write(
        self, place: FileLocation, data: bytes, mode: Mode, content_type: str | None
    ) -> Facts:
        """Write an object. `create` requires a new or equal object; `append` raises StepError."""
        if mode == "append":
            raise StepError(
                f"s3://{place.rest}: objects in S3 cannot be appended to: overwrite the object"
            )
        asked: dict[str, Any] = {"Body": data}
        if mode == "create":
            asked["IfNoneMatch"] = "*"
        if content_type:
            asked["ContentType"] = content_type
        try:
            answer = self._call(place, "put_object", **asked)
        except ObjectExists:
            return self._own(place, data)
        return _facts(place, answer, len(data))

    def copy(
        self, place: FileLocation, file: BinaryIO, mode: Mode, content_type: str | None
    ) -> Facts:
        """Write an object, in parts of 5 MiB if it has 1 MiB or more.

        The object becomes visible when the upload is complete.
        """
        begin = file.read(PART)
        if len(begin) < PART:
            return self.write(place, begin, mode, content_type)
        asked: dict[str, Any] = {"ContentType": content_type} if content_type else {}
        upload = self._call(place, "create_multipart_upload", **asked)["UploadId"]
        try:
            parts: list[dict[str, Any]] = []
            left = iter(lambda: file.read(PART), b"")
            for number, block in enumerate(blocks(chain([begin], left)), 1):
                sent: dict[str, Any] = {"UploadId": upload, "Body": block}
                etag = self._call(place, "upload_part", PartNumber=number, **sent)["ETag"]
                parts.append({"ETag": etag, "PartNumber": number})
            complete = {"UploadId": upload, "MultipartUpload": {"Parts": parts}}
            if mode == "create":
                complete["IfNoneMatch"] = "*"
            answer = self._call(place, "complete_multipart_upload", **complete)
        except BaseException as error:
            with suppress(Exception):
                self._call(place, "abort_multipart_upload", UploadId=upload)
            if isinstance(error, ObjectExists) and mode == "create":
                return self._equal(place, file)
            raise
        return _facts(place, answer, file.tell())

    def _equal(self, place: FileLocation, file: BinaryIO) -> Facts:
        """Return the metadata of the existing object. Raises StepError if its content differs."""
        if not equal(file, lambda position: self.read(place, position, PART)[0]):
            raise StepError(f"s3://{place.rest} already exists with different content")
        return _facts(place, self._call(place, "head_object"))

    def entries(self, place: FileLocation, recursive: bool) -> Iterator[Facts]:
        """Yield a folder's objects and subfolders or, with `recursive`, all objects below it."""
        prefix = f"{place.key.strip('/')}/" if place.key.strip("/") else ""
        asked: dict[str, Any] = {"Prefix": prefix, "MaxKeys": PAGE}
        if not recursive:
            asked["Delimiter"] = "/"
        while True:
            answer = self._call(place, "list_objects_v2", key=False, **asked)
            for found in answer.get("CommonPrefixes", []):
                yield Facts(f"s3://{place.bucket}/{found['Prefix'].rstrip('/')}", kind="folder")
            for found in answer.get("Contents", []):
                if not found["Key"].endswith("/"):  # such objects only mark folders
                    yield _facts(
                        FileLocation(place.scheme, f"{place.bucket}/{found['Key']}"), found
                    )
            if not answer.get("IsTruncated"):
                return
            asked["ContinuationToken"] = answer["NextContinuationToken"]

    def delete(self, place: FileLocation) -> bool:
        """Delete an object; return whether it existed.

        S3 does not report whether the object existed, so its metadata is requested first.
        """
        try:
            self._call(place, "head_object")
        except ObjectMissing:
            return False
        self._call(place, "delete_object")
        return True

    def close(self) -> None:
        """Close the connections of the store."""
        self._connection.close()

    def _own(self, place: FileLocation, data: bytes) -> Facts:
        """Return the metadata of the existing object. Raises StepError if its content differs."""
        found, facts = self.read(place, 0, len(data) + 1)
        if found != data:
            raise StepError(f"s3://{place.rest} already exists with different content")
        return facts

    def _call(self, place: FileLocation, method: str, *, key: bool = True, **asked: Any) -> Any:
        if key:
            asked["Key"] = place.key
        filesystem = self._connection.filesystem
        return self._ask(place, partial(filesystem._call_s3, method, Bucket=place.bucket, **asked))

    async def _read(
        self, place: FileLocation, most: int, asked: dict[str, Any]
    ) -> tuple[Any, bytes]:
        """Return the response, and the first `most` bytes of its body; the rest is never read."""
        answer = await self._connection.filesystem._call_s3(
            "get_object", Bucket=place.bucket, Key=place.key, **asked
        )
        pieces, size = [], 0
        async with answer["Body"] as body:
            while size < most and (piece := await body.read(min(most - size, 1 << 20))):
                pieces.append(piece)
                size += len(piece)
        return answer, b"".join(pieces)

    def _ask(self, place: FileLocation, work: Callable[[], Any]) -> Any:
        seconds = self._remaining()
        try:
            return self._connection.run(work, seconds)
        except Exception as error:
            raise failure_of(error, place, self._connection) from error


def _facts(place: FileLocation, answer: Any, size: int | None = None) -> Facts:
    modified = answer.get("LastModified")
    return Facts(
        path=f"s3://{place.rest}",
        bytes=size if size is not None else int(answer.get("Size", answer.get("ContentLength", 0))),
        modified=modified.isoformat() if modified is not None else None,
        etag=str(answer["ETag"]).strip('"') if answer.get("ETag") else None,
        version=answer.get("VersionId"),
        content_type=answer.get("ContentType"),
    )
