"""Locations of files, the interface of stores, and the open stores of a step."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import TracebackType
from typing import BinaryIO, Literal, Protocol, Self

from runners.public.modules import ErrorType, StepContext, StepError
from valkyr_plugins.connectors.conf import settings

# Resolve a path of a file step: to the files folder, or by its scheme to another store.
#
# Only schemes that an administrator allows are opened. A scheme can refer to the worker's own disk
# (`file://`), to any host (`http://`) or to both (`zip://a::file:///etc`), so the installation of a
# package alone allows no scheme.


FILE_SCHEMES = "VALKYR_FILE_SCHEMES"
LOCAL, S3 = "local", "s3"
# Schemes that bypass the files folder on the worker's disk, so administrators cannot allow them.
NEVER = frozenset({"file", "dir", "reference", "generic", "data", "asynclocal"})
BUCKET = re.compile(r"[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]")
MAX_KEY_BYTES = 1_024  # limit of Amazon S3


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A parsed path: `rest` is the part after `scheme://`, or the path itself if local."""

    scheme: str
    rest: str

    @property
    def bucket(self) -> str:
        """Return the bucket: the first part of a path in S3."""
        return self.rest.partition("/")[0]

    @property
    def key(self) -> str:
        """Return the key: the path in S3 without its bucket; "" for the bucket itself."""
        return self.rest.partition("/")[2]


def place_of(path: str, *, folder: bool = False) -> FileLocation:
    """Parse a path; with `folder`, it may name a folder or a whole bucket.

    Raises StepError if its scheme is not allowed, or its bucket or key is invalid.
    """
    scheme, separator, rest = path.partition("://")
    if not separator:
        scheme, rest = LOCAL, path
    scheme = scheme.lower()
    if separator and "::" in path:
        raise StepError(f"path {path[:200]!r} chains schemes with '::', which is not supported")
    _require_allowed(scheme, path)
    place = FileLocation(scheme, rest)
    if scheme == S3:
        _require_object(place, path, folder)
    return place


def _require_allowed(scheme: str, path: str) -> None:
    allowed = sorted({part.lower() for part in settings().file_schemes})
    if scheme in allowed and scheme not in NEVER:
        return
    if scheme in NEVER:
        raise StepError(
            f"path {path[:200]!r} begins with {scheme}://, which is not supported: write a "
            "path below the files folder, without a scheme"
        )
    raise StepError(
        f"path {path[:200]!r} is in a store of the kind {scheme!r}, which is not allowed "
        f"here; allowed: {', '.join(allowed) or 'none'}. An administrator can allow more in "
        f"{FILE_SCHEMES}"
    )


def _require_object(place: FileLocation, path: str, folder: bool) -> None:
    """Raise StepError for an invalid bucket, or a key that is too long, ambiguous or has a NUL."""
    if not BUCKET.fullmatch(place.bucket):
        raise StepError(
            f"path {path[:200]!r} names no bucket: expected s3://bucket/key, the bucket with "
            "3 to 63 lower-case letters, digits, '-' and '.'"
        )
    key = place.key.removesuffix("/") if folder else place.key
    if folder and not key:
        return
    parts = key.split("/")
    if not all(parts) or any(part in (".", "..") for part in parts) or "\x00" in key:
        raise StepError(
            f"path {path[:200]!r} must name a key whose parts are neither empty nor '.' nor '..'"
        )
    if len(key.encode("utf-8", "surrogatepass")) > MAX_KEY_BYTES:
        raise StepError(f"path {path[:200]!r}… names a key of more than {MAX_KEY_BYTES} bytes")


Mode = Literal["overwrite", "create", "append"]
MEBIBYTE = 1024 * 1024
MAX_BYTES = 64 * MEBIBYTE
PART = MEBIBYTE  # size of the parts in which a file is copied
MAX_SCANNED = 100_000  # maximum entries that one listing reads


@dataclass(frozen=True, slots=True)
class Facts:
    """The metadata of a file or folder. `path` is written as in a step's inputs.

    `bytes` is the size, and `modified` is in ISO 8601. `etag` and `version` are the store's
    identifiers of the file's content.
    """

    path: str
    bytes: int = 0
    modified: str | None = None
    etag: str | None = None
    version: str | None = None
    content_type: str | None = None
    kind: Literal["file", "folder"] = "file"


@dataclass(frozen=True, slots=True)
class Where:
    """The address, region and credential of a store, which paths do not contain."""

    endpoint: str | None = None
    region: str | None = None
    credential: Mapping[str, str] | None = None


def equal(file: BinaryIO, read: Callable[[int], bytes]) -> bool:
    """Return whether a file equals other content, which `read` returns from a position on."""
    file.seek(0)
    position = 0
    while part := file.read(PART):
        if read(position)[: len(part)] != part:
            return False
        position += len(part)
    return not read(position)


class Store(Protocol):
    """A store of files.

    Each method can raise StepError, or an error that the engine classifies by its type.
    """

    def read(self, place: FileLocation, start: int, most: int) -> tuple[bytes, Facts]:
        """Return at most `most` bytes from byte `start` on, and the file's metadata.

        `Facts.bytes` is the whole file's size.
        """

    def write(
        self, place: FileLocation, data: bytes, mode: Mode, content_type: str | None
    ) -> Facts:
        """Write a file, or append to it; S3 and the files folder write whole files atomically."""

    def copy(
        self, place: FileLocation, file: BinaryIO, mode: Mode, content_type: str | None
    ) -> Facts:
        """Write a file from an open file, which is read in parts.

        S3 and the files folder write the file atomically.
        """

    def entries(self, place: FileLocation, recursive: bool) -> Iterator[Facts]:
        """Yield the entries of a folder, in any order; omit folders if `recursive`."""

    def delete(self, place: FileLocation) -> bool:
        """Delete a file; return whether it existed."""

    def close(self) -> None:
        """Close the store's connections."""


class Stores:
    """The stores of one step.

    Each store is opened when a path first needs it, and closed at the end of the block.
    """

    def __init__(self, where: Where, ctx: StepContext) -> None:
        self._where = where
        self._ctx = ctx
        self._open: dict[str, Store] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for store in self._open.values():
            store.close()

    def at(self, path: str, *, folder: bool = False) -> tuple[Store, FileLocation]:
        """Return the store of a path, and the parsed path.

        Raises StepError if the step may not use that store.
        """
        place = place_of(path, folder=folder)
        if place.scheme not in self._open:
            self._open[place.scheme] = self._opened(place.scheme)
        return self._open[place.scheme], place

    def _opened(self, scheme: str) -> Store:
        # Imported on demand, because each store loads libraries that most workers never need.
        if scheme == LOCAL:
            from valkyr_plugins.connectors.files.local_store import LocalStore

            return LocalStore()
        package, extra = ("s3fs", "valkyr[s3]") if scheme == S3 else ("fsspec", "fsspec")
        if find_spec(package) is None:
            raise StepError(
                f"files in {scheme}:// need the Python package {package!r}, which is not "
                f"installed: pip install '{extra}'"
            )
        if scheme == S3:
            from valkyr_plugins.connectors.files.s3.store import S3Store

            return S3Store(self._where, self._remaining)
        from valkyr_plugins.connectors.files.fsspec_store import OtherStore

        return OtherStore(scheme)

    def _remaining(self) -> float:
        """Return the seconds until just before the timeout. Raises StepError if none are left."""
        seconds = self._ctx.remaining()
        seconds -= min(0.2, seconds * 0.05)
        if seconds <= 0:
            raise StepError("the step's time was over", ErrorType.TIMEOUT)
        return seconds
