"""Where a path of a file step leads: below the files folder, or to another store by its scheme.

Only schemes that an administrator names are opened. A scheme can mean the worker's own disk
(`file://`), any host (`http://`) or a chain of both (`zip://a::file:///etc`), so that nothing is
allowed by being installed.
"""

import os
import re
from dataclasses import dataclass

from runners.public.modules import StepError

FILE_SCHEMES = "VALKYR_FILE_SCHEMES"
DEFAULT_SCHEMES = "local,s3"
LOCAL, S3 = "local", "s3"
# They open the worker's own disk past the files folder, whatever an administrator says.
NEVER = frozenset({"file", "dir", "reference", "generic", "data", "asynclocal"})
BUCKET = re.compile(r"[a-z0-9][a-z0-9.\-]{1,61}[a-z0-9]")
MAX_KEY_BYTES = 1_024  # Amazon S3's own limit


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A path taken apart: `rest` is what follows `scheme://`, or the path itself where local."""

    scheme: str
    rest: str

    @property
    def bucket(self) -> str:
        """The first part of a path in S3."""
        return self.rest.partition("/")[0]

    @property
    def key(self) -> str:
        """The rest of a path in S3, empty for the bucket itself."""
        return self.rest.partition("/")[2]


def place_of(path: str, *, folder: bool = False) -> FileLocation:
    """Take a path apart; StepError where its scheme is not allowed or it leads astray.

    `folder`: it may name a folder, or a whole bucket.
    """
    scheme, separator, rest = path.partition("://")
    if not separator:
        scheme, rest = LOCAL, path
    scheme = scheme.lower()
    if separator and "::" in path:
        raise StepError(f"path {path[:200]!r} chains schemes by '::', which is never opened")
    _require_allowed(scheme, path)
    place = FileLocation(scheme, rest)
    if scheme == S3:
        _require_object(place, path, folder)
    return place


def _require_allowed(scheme: str, path: str) -> None:
    setting = os.environ.get(FILE_SCHEMES, DEFAULT_SCHEMES)
    allowed = sorted({part.strip().lower() for part in setting.split(",") if part.strip()})
    if scheme in allowed and scheme not in NEVER:
        return
    if scheme in NEVER:
        raise StepError(
            f"path {path[:200]!r} begins with {scheme}://, which is never opened: write a path "
            "below the files folder, without a scheme"
        )
    raise StepError(
        f"path {path[:200]!r} is in a store of the kind {scheme!r}, which is not allowed here; "
        f"allowed: {', '.join(allowed) or 'none'}. An administrator names more in {FILE_SCHEMES}"
    )


def _require_object(place: FileLocation, path: str, folder: bool) -> None:
    """A bucket and a key that every S3 and every proxy before one understands alike."""
    if not BUCKET.fullmatch(place.bucket):
        raise StepError(
            f"path {path[:200]!r} names no bucket: expected s3://bucket/key, the bucket 3 to 63 "
            "small letters, digits, '-' and '.'"
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
