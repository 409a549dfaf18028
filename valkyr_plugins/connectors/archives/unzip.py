"""`archive.unzip`: unpack an archive into files or outputs, or write nothing if it is invalid."""

from typing import Any, ClassVar

from pydantic import Field, field_validator, model_validator

from runners.public.modules import Bad, Module, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.archives.safe_archive import Archive, Bounds, archive
from valkyr_plugins.connectors.files.inputs import (
    CIRCUIT_TARGET,
    Charset,
    Encoding,
    StoreInputs,
    circuit_of,
    decoded,
    encoded,
    stores,
    warm_up,
)
from valkyr_plugins.connectors.files.listing import FilePattern
from valkyr_plugins.connectors.files.store import MAX_BYTES, MEBIBYTE, Stores

MAX_INLINE = 3 * MEBIBYTE  # Base64 is a third longer, and an output may have 5 MiB of JSON


class ArchiveUnzipInputs(StoreInputs):
    """The archive, and the destination of its files."""

    path: str | None = Field(
        None,
        max_length=4_096,
        description="The archive: a path below the files folder, or s3://bucket/key.",
        examples=["inbox/orders.zip"],
    )
    content: str | None = Field(
        None,
        description="The archive, as Base64, instead of `path`.",
        examples=["{{ previous.body }}"],
    )
    to: str | None = Field(
        None,
        max_length=4_096,
        description=(
            "The folder for the files: a path below the files folder, or s3://bucket/folder. "
            "Existing files are overwritten. Without `to`, the output contains the files (at most "
            "3 MiB in total)."
        ),
        examples=["orders/{{ input.day }}"],
    )
    pattern: str | None = Field(
        None,
        max_length=500,
        description="Unpack only files whose names match this pattern: *, ? and [abc] match within "
        "a name, ** across folders.",
        examples=["**/*.csv"],
    )
    encoding: Encoding = Field("text", description="The encoding of the contents in the output.")
    charset: Charset = Field(
        "utf-8", description="The charset of the contents, if `encoding` is text."
    )
    name_charset: Charset | None = Field(
        None,
        description="The charset of file names, unless the archive states it; by default cp437.",
        examples=["cp932"],
    )
    max_entries: int = Field(
        1_000, ge=1, le=10_000, description="If there are more entries than this, the step fails."
    )
    max_bytes: int = Field(
        MAX_BYTES,
        ge=1,
        le=MAX_BYTES,
        description="If the archive's files have more than this number of bytes in total when "
        "unpacked, the step fails.",
    )
    max_ratio: int = Field(
        200,
        ge=1,
        le=1_100,
        description="If an entry that unpacks to more than 1 MiB has a higher compression ratio "
        "than this, the step fails.",
    )

    @field_validator("pattern")
    @classmethod
    def _is_pattern(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            FilePattern(pattern)
        return pattern

    @model_validator(mode="after")
    def _one_archive(self) -> "ArchiveUnzipInputs":
        if (self.path is None) == (self.content is None):
            raise ValueError("set either path or content")
        return self


class ArchiveUnzipEntry(ModuleOutputs):
    """A file of the archive."""

    name: str = Field(description="Its name in the archive.")
    bytes: int = Field(description="Its unpacked size in bytes.")
    path: str | None = Field(description="Where it was written; null without `to`.")
    content: str | None = Field(description="Its contents; null with `to`.")


class ArchiveUnzipOutputs(ModuleOutputs):
    """The unpacked files."""

    entries: list[ArchiveUnzipEntry] = Field(description="The files, in the archive's order.")
    count: int = Field(description="The number of files.")


class ArchiveUnzip(Module[ArchiveUnzipInputs]):
    """Unpacks a zip archive into a folder, or into the step's output.

    All entries are checked, and the selected ones unpacked, before any file is written. Nested
    archives are not unpacked. The step fails if the archive contains an encrypted entry, a link, or
    a name that leads out of the target folder or occurs twice. An archive that exceeds a limit also
    fails the step. S3 needs a credential of type s3 or aws_sts, except to read public objects.
    """

    type = "archive.unzip"
    title = "Unzip files"
    category = "files"
    queue = "io"
    effect = "idempotent"
    credential = ("s3",)
    judges_hosts = "credential"
    addresses = ("endpoint",)
    circuit_target = CIRCUIT_TARGET
    Inputs = ArchiveUnzipInputs
    Outputs = ArchiveUnzipOutputs
    example: ClassVar = {"path": "inbox/{{ input.name }}", "to": "orders", "pattern": "**/*.csv"}
    bad_inputs = (
        Bad("no archive", {}, "either path or content"),
        Bad("invalid Base64", {"content": "no!"}, "content is not base64"),
        Bad("not an archive", {"content": "aGVsbG8="}, "not a zip archive"),
        Bad("an empty file", {"content": ""}, "not a zip archive"),
        Bad("an incomplete archive", {"path": "cut.zip"}, "not a zip archive", needs="archives"),
        Bad("content with a wrong checksum", {"path": "crc.zip"}, "Bad CRC", needs="archives"),
        Bad("a name with `..`", {"path": "slip.zip"}, "is outside the folder", needs="archives"),
        Bad("an absolute name", {"path": "root.zip"}, "is outside the folder", needs="archives"),
        Bad(
            "a backslash in a name",
            {"path": "windows.zip"},
            "is outside the folder",
            needs="archives",
        ),
        Bad("a link", {"path": "link.zip"}, "is a link or a device", needs="archives"),
        Bad("an encrypted entry", {"path": "secret.zip"}, "is encrypted", needs="archives"),
        Bad("a duplicate name", {"path": "twice.zip"}, "twice", needs="archives"),
        Bad(
            "a file that is also a folder",
            {"path": "both.zip"},
            "as a file and as a folder",
            needs="archives",
        ),
        Bad("an archive bomb, by its ratio", {"path": "bomb.zip"}, "maxRatio", needs="archives"),
        Bad(
            "an archive bomb with false sizes in its headers",
            {"path": "liar.zip"},
            "not a zip archive",
            needs="archives",
        ),
        Bad(
            "more bytes than allowed",
            {"path": "good.zip", "maxBytes": 3},
            "maxBytes",
            needs="archives",
        ),
        Bad("too many entries", {"path": "many.zip"}, "maxEntries", needs="archives"),
        Bad(
            "an endless list of entries",
            {"path": "endless.zip"},
            "list of entries is too long",
            needs="archives",
        ),
        Bad("LZMA compression", {"path": "lzma.zip"}, "packed by method 14", needs="archives"),
        Bad(
            "a name that no charset can decode",
            {"path": "names.zip", "nameCharset": "ascii"},
            "nameCharset",
            needs="archives",
        ),
        Bad("binary data as text", {"path": "binary.zip"}, "is not UTF-8 text", needs="archives"),
    )

    def circuit(self, inputs: ArchiveUnzipInputs) -> str | None:
        return circuit_of(inputs, inputs.path, inputs.to)

    def warm_up(self) -> None:
        warm_up()

    def execute(self, inputs: ArchiveUnzipInputs, ctx: StepContext) -> Result:
        bounds = Bounds(inputs.max_entries, inputs.max_bytes, inputs.max_ratio)
        with stores(inputs, ctx) as opened:
            with archive(_data(inputs, opened), bounds, inputs.name_charset) as found:
                files = _files(found, inputs.pattern)
            if inputs.to is None:
                entries = _shown(files, inputs)
            else:
                entries = _written(files, inputs.to, opened)
        outputs = ArchiveUnzipOutputs(entries=entries, count=len(entries))
        return Result(outputs.model_dump(mode="json"))


def _data(inputs: ArchiveUnzipInputs, opened: Stores) -> bytes:
    if inputs.path is None:
        return encoded(inputs.content or "", "base64", "utf-8")
    store, place = opened.at(inputs.path)
    data, _ = store.read(place, 0, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise StepError(
            f"{inputs.path!r} holds more than {MAX_BYTES} bytes, the maximum for archives"
        )
    return data


def _files(found: Archive, pattern: str | None) -> dict[str, bytes]:
    fits = FilePattern(pattern).matches if pattern else lambda name: True
    return {name: found.content(name) for name in found.names if fits(name)}


def _shown(files: dict[str, bytes], inputs: ArchiveUnzipInputs) -> list[ArchiveUnzipEntry]:
    size = sum(map(len, files.values()))
    if size > MAX_INLINE:
        raise StepError(
            f"the files have {size} bytes, too many for an output: set a folder (to), or "
            "select fewer files (pattern)"
        )
    return [
        _entry(name, data, content=decoded(data, inputs.encoding, inputs.charset, name))
        for name, data in files.items()
    ]


def _written(files: dict[str, bytes], to: str, opened: Stores) -> list[ArchiveUnzipEntry]:
    base = to.rstrip("/")
    placed = [(name, f"{base}/{name}" if base else name) for name in files]
    targets = [(name, path, *opened.at(path)) for name, path in placed]
    for name, _, store, place in targets:
        store.write(place, files[name], "overwrite", None)
    return [_entry(name, files[name], path=path) for name, path, *_ in targets]


def _entry(name: str, data: bytes, **more: Any) -> ArchiveUnzipEntry:
    return ArchiveUnzipEntry(
        name=name, bytes=len(data), path=more.get("path"), content=more.get("content")
    )
