"""`archive.zip`: pack files and texts into an archive, with the same bytes in every attempt."""

import base64
import io
import zipfile
from typing import ClassVar

from pydantic import Field, model_validator

from runners.public.modules import Bad, Module, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.archives.safe_archive import require_apart, safe_name
from valkyr_plugins.connectors.files.inputs import (
    CIRCUIT_TARGET,
    Encoding,
    StoreInputs,
    circuit_of,
    encoded,
    stores,
    warm_up,
)
from valkyr_plugins.connectors.files.store import MAX_BYTES, MEBIBYTE, Stores

MAX_FILES = 1_000
MAX_INLINE = 3 * MEBIBYTE  # Base64 is a third longer, and an output may have 5 MiB of JSON
# A fixed time instead of the current one, so that an attempt after a crash makes the same bytes.
EPOCH = (1980, 1, 1, 0, 0, 0)


class ArchiveZipInputs(StoreInputs):
    """The files to pack, and the path of the archive."""

    paths: list[str] = Field(
        default_factory=list,
        max_length=MAX_FILES,
        description="Files to pack: paths below the files folder, or s3://bucket/key.",
        examples=[["orders/today.csv", "s3://shop/report.pdf"]],
    )
    contents: dict[str, str] = Field(
        default_factory=dict,
        max_length=MAX_FILES,
        description="Additional files: their names inside the archive, and their contents.",
        examples=[{"note.txt": "{{ input.note }}"}],
    )
    encoding: Encoding = Field(
        "text",
        description="The encoding of `contents`. text: packed as UTF-8. base64: decoded, then "
        "packed.",
    )
    folders: bool = Field(
        True, description="Whether names in the archive include the files' folders."
    )
    to: str | None = Field(
        None,
        max_length=4_096,
        description=(
            "The archive's location: a path below the files folder, or s3://bucket/key. Without "
            "`to`, the output contains the archive as Base64, and an archive over 3 MiB fails the "
            "step."
        ),
        examples=["archives/{{ input.day }}.zip"],
    )
    max_bytes: int = Field(
        MAX_BYTES,
        ge=1,
        le=MAX_BYTES,
        description="If the files to pack have more bytes than this in total, the step fails.",
    )

    @model_validator(mode="after")
    def _something(self) -> "ArchiveZipInputs":
        if not (self.paths or self.contents):
            raise ValueError("set paths, contents or both")
        return self


class ArchiveZipOutputs(ModuleOutputs):
    """The archive, and the names of the packed files."""

    path: str | None = Field(description="The path of the archive, if it was written.")
    content: str | None = Field(
        description="The archive as Base64, if it was not written to a file."
    )
    bytes: int = Field(description="The archive's size in bytes.")
    names: list[str] = Field(description="The names inside the archive, in order.")


class ArchiveZip(Module[ArchiveZipInputs]):
    """Packs files into a zip archive.

    The archive's bytes depend only on the packed files, so the step is safe to repeat. Paths in S3
    need a credential of type s3 or aws_sts, except to read public objects.
    """

    type = "archive.zip"
    title = "Zip files"
    category = "files"
    queue = "io"
    effect = "idempotent"
    credential = ("s3",)
    judges_hosts = "credential"
    addresses = ("endpoint",)
    circuit_target = CIRCUIT_TARGET
    Inputs = ArchiveZipInputs
    Outputs = ArchiveZipOutputs
    example: ClassVar = {
        "paths": ["orders/{{ input.day }}.csv"],
        "contents": {"note.txt": "Orders of {{ input.day }}"},
        "to": "archives/{{ input.day }}.zip",
    }
    bad_inputs = (
        Bad("no entries", {}, "set paths, contents or both"),
        Bad("a name with `..`", {"contents": {"../x": ""}}, "is outside the folder"),
        Bad("an absolute name", {"contents": {"/etc/x": ""}}, "is outside the folder"),
        Bad("a Windows drive", {"contents": {"c:x": ""}}, "is outside the folder"),
        Bad("a name with a NUL", {"contents": {"a\x00b": ""}}, "has an invalid name"),
        Bad(
            "a file below another file", {"contents": {"a": "", "a/b": ""}}, "as a file and as a f"
        ),
        Bad("a lone surrogate", {"contents": {"a": "\ud800"}}, "surrogates not allowed"),
        Bad("invalid Base64", {"contents": {"a": "=="}, "encoding": "base64"}, "is not base64"),
        Bad("more bytes than allowed", {"contents": {"a": "12345"}, "maxBytes": 4}, "maxBytes"),
        Bad("a local path by URL", {"paths": ["file:///etc/passwd"]}, "is not supported"),
        Bad("a link", {"paths": ["link"]}, "symbolic links are not followed", needs="files"),
        Bad("a duplicate entry", {"paths": ["large.txt"] * 2}, "twice", needs="files"),
        Bad(
            "too large for an output",
            {"paths": ["random.bin"]},
            "set a path for it (to)",
            needs="files",
        ),
    )

    def circuit(self, inputs: ArchiveZipInputs) -> str | None:
        return circuit_of(inputs, inputs.to, *inputs.paths)

    def warm_up(self) -> None:
        warm_up()

    def execute(self, inputs: ArchiveZipInputs, ctx: StepContext) -> Result:
        with stores(inputs, ctx) as opened:
            files = _files(inputs, opened)
            data = _packed(files)
            if inputs.to is not None:
                store, place = opened.at(inputs.to)
                store.write(place, data, "overwrite", "application/zip")
            elif len(data) > MAX_INLINE:
                raise StepError(
                    f"the archive has {len(data)} bytes, too many for an output: set a path "
                    "for it (to)"
                )
        outputs = ArchiveZipOutputs(
            path=inputs.to,
            content=base64.b64encode(data).decode("ascii") if inputs.to is None else None,
            bytes=len(data),
            names=list(files),
        )
        return Result(outputs.model_dump(mode="json"))


def _files(inputs: ArchiveZipInputs, opened: Stores) -> dict[str, bytes]:
    """Return the files' contents, keyed by name in the archive.

    Raises StepError if the contents exceed `maxBytes`, or for an unsafe or conflicting name.
    """
    named = [(_inside(path, inputs.folders), path) for path in inputs.paths]
    names = [name for name, _ in named] + [safe_name(name) for name in inputs.contents]
    require_apart(names)
    files: dict[str, bytes] = {}
    left = inputs.max_bytes
    for name, path in named:
        store, place = opened.at(path)
        files[name] = store.read(place, 0, left + 1)[0]
        left = _less(left, files[name], inputs.max_bytes)
    for name, content in inputs.contents.items():
        files[name] = encoded(content, inputs.encoding, "utf-8", f"contents[{name[:100]!r}]")
        left = _less(left, files[name], inputs.max_bytes)
    return files


def _less(left: int, data: bytes, most: int) -> int:
    if len(data) > left:
        raise StepError(f"there are more than {most} bytes to pack (maxBytes): pack fewer files")
    return left - len(data)


def _inside(path: str, folders: bool) -> str:
    """Return a file's name in the archive: its path, or only its last part. Raises StepError."""
    _, separator, rest = path.partition("://")
    plain = rest.partition("/")[2] if separator else path
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if not parts:
        raise StepError(f"path {path[:200]!r} names no file")
    return safe_name("/".join(parts) if folders and not plain.startswith("/") else parts[-1])


def _packed(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, EPOCH)
            info.external_attr = 0o640 << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return target.getvalue()
