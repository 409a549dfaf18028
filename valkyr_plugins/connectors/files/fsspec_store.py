"""Stores other than the files folder and S3, opened with fsspec, if an administrator allows them.

fsspec reads its options from the URL and the worker's environment. The addresses that the stores
connect to are not checked, so a workspace with egress rules cannot use these stores.
"""

from collections.abc import Iterator
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from runners.public.modules import StepError, egress_rules
from valkyr_plugins.connectors.files.store import FILE_SCHEMES, PART, Facts, FileLocation, Mode


class OtherStore:
    """A store that a scheme such as `gs` or `abfs` names; its package must be installed."""

    def __init__(self, scheme: str) -> None:
        self._scheme = scheme

    def read(self, place: FileLocation, start: int, most: int) -> tuple[bytes, Facts]:
        """Return at most `most` bytes from byte `start` on, and the file's metadata."""
        filesystem, path = self._at(place)
        known = _found(filesystem, path, place)
        data: bytes = filesystem.cat_file(path, start=start, end=start + most)
        return data, _facts(place, known)

    def write(
        self, place: FileLocation, data: bytes, mode: Mode, content_type: str | None
    ) -> Facts:
        """Write a whole file. Raises StepError if `mode` is not `overwrite`."""
        if mode != "overwrite":
            raise StepError(f"{_name(place)}: files there can only be overwritten, found {mode!r}")
        filesystem, path = self._at(place)
        filesystem.pipe_file(path, data)
        return _facts(place, {"size": len(data)})

    def copy(
        self, place: FileLocation, file: BinaryIO, mode: Mode, content_type: str | None
    ) -> Facts:
        """Write a whole file in parts. Raises StepError if `mode` is not `overwrite`."""
        if mode != "overwrite":
            raise StepError(f"{_name(place)}: files there can only be overwritten, found {mode!r}")
        filesystem, path = self._at(place)
        # Read the whole source before the upload, so that an error leaves the store unchanged. The
        # temporary file has no name, so a crash leaves no file behind.
        with TemporaryFile() as whole:
            copyfileobj(file, whole, PART)
            whole.seek(0)
            filesystem.put_file(f"/dev/fd/{whole.fileno()}", path)
        return _facts(place, filesystem.info(path))

    def entries(self, place: FileLocation, recursive: bool) -> Iterator[Facts]:
        """Yield the entries of a folder or, with `recursive`, the files below it."""
        filesystem, path = self._at(place)
        _found(filesystem, path, place)
        waiting = [path]
        while waiting:
            for known in filesystem.ls(waiting.pop(), detail=True):
                folder = known["type"] == "directory"
                if folder and recursive:
                    waiting.append(known["name"])
                    continue
                beneath = str(known["name"])[len(path) :].strip("/")
                root = place.rest.rstrip("/")
                yield _facts(FileLocation(place.scheme, f"{root}/{beneath}".lstrip("/")), known)

    def delete(self, place: FileLocation) -> bool:
        """Delete a file; return whether it existed. Raises StepError for a folder."""
        filesystem, path = self._at(place)
        if not filesystem.exists(path):
            return False
        if filesystem.isdir(path):
            raise StepError(f"{_name(place)} cannot be deleted: it is not a file")
        filesystem.rm_file(path)
        return True

    def close(self) -> None:
        """Do nothing; fsspec closes what it opened."""

    def _at(self, place: FileLocation) -> tuple[Any, str]:
        from fsspec.core import url_to_fs

        if egress_rules() is not None:
            raise StepError(
                f"{self._scheme}:// cannot be opened: the workspace has egress rules, and Valkyr "
                "cannot check where this store connects to. Use s3://, or ask an administrator of "
                "the workspace to allow any host (*)"
            )
        try:
            filesystem, path = url_to_fs(_name(place), skip_instance_cache=True)
        except (ImportError, ValueError) as error:
            raise StepError(
                f"{self._scheme}:// cannot be opened: {FILE_SCHEMES} allows it, but its "
                f"package is not installed ({error})"
            ) from error
        return filesystem, str(path)


def _found(filesystem: Any, path: str, place: FileLocation) -> dict[str, Any]:
    try:
        known: dict[str, Any] = filesystem.info(path)
    except FileNotFoundError:
        raise StepError(f"there is no file {_name(place)}") from None
    return known


def _name(place: FileLocation) -> str:
    return f"{place.scheme}://{place.rest}"


def _facts(place: FileLocation, known: dict[str, Any]) -> Facts:
    folder = known.get("type") == "directory"
    modified: Any = known.get("mtime") or known.get("LastModified") or known.get("created")
    return Facts(
        path=_name(place),
        bytes=0 if folder else int(known.get("size") or 0),
        modified=modified.isoformat() if hasattr(modified, "isoformat") else None,
        kind="folder" if folder else "file",
    )
