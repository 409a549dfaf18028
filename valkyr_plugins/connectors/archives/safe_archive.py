"""Open an untrusted zip archive, check its names and enforce limits.

Declared sizes are checked first, since that is cheap. Then the bytes of each unpacked entry are
counted, part by part. Only common methods are supported: stored and deflated entries.
"""

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from runners.public.modules import StepError

# Check names inside archives: each must stay in the target folder and occur only once.


DRIVE = re.compile(r"[A-Za-z]:")
MAX_NAME = 1_000


def safe_name(name: str) -> str:
    """Return the name if it is valid and stays inside the target folder.

    Raises StepError for any other name, such as `../a` ("zip slip").
    """
    parts = name.removesuffix("/").split("/")
    climbs = name.startswith("/") or ".." in parts or "\\" in name or DRIVE.match(name)
    if climbs:
        raise StepError(
            f"the archive's entry {name[:200]!r} is outside the folder in which it is unpacked"
        )
    if not all(parts) or "." in parts or not name.isprintable() or len(name) > MAX_NAME:
        raise StepError(
            f"the archive's entry {name[:200]!r} has an invalid name: expected folders and a "
            f"name separated by '/', at most {MAX_NAME} characters"
        )
    return name


def require_apart(names: Iterable[str]) -> None:
    """Raise StepError if a name occurs twice, or is both a file and a folder."""
    files: set[str] = set()
    folders: set[str] = set()
    for name in names:
        if name in files:
            raise StepError(f"the archive holds {name[:200]!r} twice")
        files.add(name)
        parts = name.split("/")
        folders.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
    both = sorted(files & folders)
    if both:
        raise StepError(f"the archive holds {both[0][:200]!r} as a file and as a folder")


MEBIBYTE = 1024 * 1024
MAX_DIRECTORY = 4 * MEBIBYTE  # maximum size of an archive's list of entries
PART = 64 * 1024
RATIO_FROM = MEBIBYTE  # size below which an entry may have any compression ratio
ENCRYPTED = 0x1
# The errors that zipfile and its dependencies raise for invalid bytes.
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(ValueError, LookupError, OverflowError, RuntimeError),  # includes NotImplementedError
)
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of an archive: its entries and bytes, and the compression ratio of each entry."""

    entries: int
    bytes: int
    ratio: int


class _Bytes(io.BytesIO):
    """An archive in memory that limits reads: zipfile reads the list of entries in one call."""

    def read(self, size: int | None = -1) -> bytes:
        """Read `size` bytes. Raises BadZipFile if the list of entries would be too long."""
        rest = len(self.getbuffer()) - self.tell()
        if min(rest, size if size is not None and size >= 0 else rest) > MAX_DIRECTORY:
            raise zipfile.BadZipFile("its list of entries is too long")
        return super().read(size)


class Archive:
    """An open archive whose entries have been checked."""

    def __init__(self, opened: zipfile.ZipFile, bounds: Bounds) -> None:
        self._opened = opened
        self._bounds = bounds
        self._files = _files(opened.infolist(), bounds)
        self._left = bounds.bytes

    @property
    def names(self) -> list[str]:
        """Return the names of the archive's files, in the archive's order."""
        return list(self._files)

    def content(self, name: str) -> bytes:
        """Unpack a file and return its bytes. Raises StepError; `archive` converts other errors."""
        info = self._files[name]
        pieces: list[bytes] = []
        size = 0
        with self._opened.open(info) as file:
            while piece := file.read(PART):
                size += len(piece)
                _require_ratio(name, size, info.compress_size, self._bounds.ratio)
                if size > self._left:
                    raise _too_much(self._bounds)
                pieces.append(piece)
        self._left -= size
        return b"".join(pieces)


@contextmanager
def archive(data: bytes, bounds: Bounds, name_charset: str | None = None) -> Iterator[Archive]:
    """Open the archive in these bytes. Raises StepError if it is invalid, truncated or harmful."""
    try:
        with zipfile.ZipFile(_Bytes(data), metadata_encoding=name_charset) as opened:
            yield Archive(opened, bounds)
    except UnicodeError as error:
        raise StepError(
            "a name in the archive is not valid in its charset: set nameCharset, such as cp932"
        ) from error
    except BROKEN as error:
        raise StepError(
            f"this is not a zip archive, or it is incomplete or damaged: {str(error)[:200]}"
        ) from error


def _files(entries: list[zipfile.ZipInfo], bounds: Bounds) -> dict[str, zipfile.ZipInfo]:
    if len(entries) > bounds.entries:
        raise StepError(
            f"the archive has {len(entries):,} entries, more than {bounds.entries:,} (maxEntries)"
        )
    for entry in entries:
        _require_plain(entry)
    files = [(safe_name(entry.filename), entry) for entry in entries if not entry.is_dir()]
    require_apart(name for name, _ in files)
    for name, entry in files:
        _require_ratio(name, entry.file_size, entry.compress_size, bounds.ratio)
    if sum(entry.file_size for entry in entries) > bounds.bytes:
        raise _too_much(bounds)
    return dict(files)


def _require_plain(entry: zipfile.ZipInfo) -> None:
    name = safe_name(entry.filename)
    if entry.flag_bits & ENCRYPTED:
        raise StepError(f"the archive's entry {name[:200]!r} is encrypted, which cannot be read")
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise StepError(f"the archive's entry {name[:200]!r} is a link or a device, not a file")
    if entry.compress_type not in METHODS:
        raise StepError(
            f"the archive's entry {name[:200]!r} is packed by method {entry.compress_type}; only "
            "stored (0) and deflated (8) ones are read"
        )


def _require_ratio(name: str, size: int, packed: int, most: int) -> None:
    if size > RATIO_FROM and size > most * max(1, packed):
        raise StepError(
            f"the archive's entry {name[:200]!r} unpacks to more than {most} times its size "
            "(maxRatio), like an archive bomb"
        )


def _too_much(bounds: Bounds) -> StepError:
    return StepError(
        f"the archive unpacks to more than {bounds.bytes} bytes (maxBytes): use archives with "
        "fewer files, or raise maxBytes"
    )
