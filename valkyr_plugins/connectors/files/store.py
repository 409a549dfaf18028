"""What every store of files can do, and the stores that one step has open."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Protocol, Self

from runners.public.modules import ErrorType, StepContext, StepError
from valkyr_plugins.connectors.files.places import LOCAL, S3, FileLocation, place_of

Mode = Literal["overwrite", "create", "append"]
MEBIBYTE = 1024 * 1024
MAX_BYTES = 64 * MEBIBYTE
MAX_SCANNED = 100_000  # entries that one listing looks at


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a file or folder; `path` is as a step would write it, `bytes` its size.

    `modified` is in ISO 8601; `etag` and `version` are a store's own marks of a content.
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
    """What a path does not say: a store's address, its region, and who asks."""

    endpoint: str | None = None
    region: str | None = None
    credential: Mapping[str, str] | None = None


class Store(Protocol):
    """A place for files; every method raises StepError, or an error that is classed by its kind."""

    def read(self, place: FileLocation, start: int, most: int) -> tuple[bytes, Facts]:
        """At most so many bytes from byte `start` on; `Facts.bytes` is the whole file's size."""

    def write(
        self, place: FileLocation, data: bytes, mode: Mode, content_type: str | None
    ) -> Facts:
        """Put a file there at once, or add to it."""

    def entries(self, place: FileLocation, recursive: bool) -> Iterator[Facts]:
        """What is in a folder, in any order; folders themselves only where not `recursive`."""

    def delete(self, place: FileLocation) -> bool:
        """Delete a file; whether it was there."""

    def close(self) -> None:
        """Let go of connections."""


class Stores:
    """The stores of one step: each opened when a path first needs it, closed with the block."""

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
        """The store of a path, and the path taken apart; StepError where it may not be opened."""
        place = place_of(path, folder=folder)
        if place.scheme not in self._open:
            self._open[place.scheme] = self._opened(place.scheme)
        return self._open[place.scheme], place

    def _opened(self, scheme: str) -> Store:
        # Each brings libraries that most workers never need.
        if scheme == LOCAL:
            from valkyr_plugins.connectors.files.local import LocalStore

            return LocalStore()
        if scheme == S3:
            from valkyr_plugins.connectors.files.s3.store import S3Store

            return S3Store(self._where, self._remaining)
        from valkyr_plugins.connectors.files.other import OtherStore

        return OtherStore(scheme)

    def _remaining(self) -> float:
        """Seconds until a little before the step's end, which could not tell what took so long."""
        seconds = self._ctx.remaining()
        seconds -= min(0.2, seconds * 0.05)
        if seconds <= 0:
            raise StepError("the step's time was over", ErrorType.TIMEOUT)
        return seconds
