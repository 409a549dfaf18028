"""`file.read`: read a file, or a range of it, as text or Base64."""

from collections.abc import Iterator
from typing import Any, ClassVar

from pydantic import Field, model_validator

from runners.public.modules import (
    Bad,
    ErrorType,
    Module,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
    StoredContent,
)
from valkyr_plugins.connectors.files.inputs import (
    CIRCUIT_TARGET,
    Charset,
    Encoding,
    StoreInputs,
    circuit_of,
    decoded,
    stores,
    warm_up,
)
from valkyr_plugins.connectors.files.store import (
    MAX_BYTES,
    MEBIBYTE,
    PART,
    Facts,
    FileLocation,
    Store,
)

MOST_STORED = 10 * 1024 * MEBIBYTE


class FileReadInputs(StoreInputs):
    """The file to read, and the range of bytes."""

    path: str = Field(
        description="A path below the files folder, or s3://bucket/key.",
        examples=["orders/today.csv", "s3://shop/orders/today.csv"],
        max_length=4_096,
    )
    encoding: Encoding = Field(
        "text",
        description="The form of `content`. text: the file's text, decoded from `charset`. "
        "base64: the file's bytes, as Base64.",
    )
    charset: Charset = Field("utf-8", description="The charset, if `encoding` is text.")
    start: int = Field(0, ge=0, description="The first byte to read, counted from 0.")
    length: int | None = Field(
        None,
        ge=1,
        le=MOST_STORED,
        description="Number of bytes to read (default: to the end). A length over 64 MiB needs "
        "`store`.",
    )
    store: bool = Field(
        False,
        description="Stream the bytes into the payload store; `content` then refers to stored "
        "content.",
    )
    max_bytes: int = Field(
        5 * MEBIBYTE,
        ge=1,
        le=MOST_STORED,
        description="If there are more bytes than this to read, the step fails; a limit over "
        "64 MiB needs `store`.",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "FileReadInputs":
        if not self.store and max(self.max_bytes, self.length or 0) > MAX_BYTES:
            raise ValueError(f"maxBytes and length are at most {MAX_BYTES}, unless store is true")
        return self


class FileReadOutputs(ModuleOutputs):
    """The content of the file, and its metadata."""

    path: str = Field(description="The path that was read.")
    content: str | StoredContent = Field(
        description="The file or the range, as text or Base64; with `store`, a reference to "
        "stored content."
    )
    bytes: int = Field(description="Number of bytes read.")
    size: int = Field(description="The size of the whole file in bytes.")
    modified: str | None = Field(
        description="When the file was last changed, in ISO 8601, if known."
    )
    etag: str | None = Field(description="The ETag that the store gives this content, if any.")
    version: str | None = Field(
        description="The ID of this version of the file, if the store keeps several versions."
    )
    content_type: str | None = Field(description="The media type that the store recorded.")


class FileRead(Module[FileReadInputs]):
    """Reads a file below the files folder, or an object in S3, as a whole or in part.

    Paths in S3 need a credential of type s3 or aws_sts, except for public objects.
    """

    type = "file.read"
    title = "Read file"
    category = "files"
    queue = "io"
    credential = ("s3",)
    judges_hosts = "credential"
    addresses = ("endpoint",)
    circuit_target = CIRCUIT_TARGET
    Inputs = FileReadInputs
    Outputs = FileReadOutputs
    example: ClassVar = {"path": "orders/{{ input.day }}.csv"}
    bad_inputs = (
        Bad("a path outside of the files folder", {"path": "../secret"}, "below the files folder"),
        Bad("an absolute path", {"path": "/etc/passwd"}, "below the files folder"),
        Bad("a NUL in the path", {"path": "a\x00b"}, "below the files folder"),
        Bad("a local path by URL", {"path": "file:///etc/passwd"}, "is not supported"),
        Bad("a server by URL", {"path": "http://10.0.0.1/x"}, "not allowed here"),
        Bad("chained schemes", {"path": "simplecache::s3://b/k"}, "chains schemes"),
        Bad("an invalid bucket", {"path": "s3://arn:aws/k"}, "names no bucket"),
        Bad("a key with `..`", {"path": "s3://shop/../other/k"}, "neither empty nor"),
        Bad(
            "the cloud's metadata service",
            {"path": "s3://latest/meta-data", "endpoint": "http://169.254.169.254"},
            "a private or special address",
        ),
        Bad(
            "a private server with a numeric address",
            {"path": "s3://shop/k", "endpoint": "http://2130706433"},
            "is not an S3 endpoint",
        ),
        Bad("an unknown charset", {"path": "a", "charset": "rot13"}, "is not a known charset"),
        Bad("a missing file", {"path": "nowhere.txt"}, "there is no f", needs="files"),
        Bad("binary read as text", {"path": "binary.bin"}, "is not UTF-8 text", needs="files"),
        Bad("a file too large", {"path": "large.txt", "maxBytes": 9}, "maxBytes", needs="files"),
        Bad("100 MiB at once", {"path": "a", "maxBytes": 104_857_600}, "unless store is true"),
        Bad("a folder", {"path": "folder"}, "is not a regular file", needs="files"),
        Bad("a link", {"path": "link"}, "symbolic links are not followed", needs="files"),
        Bad(
            "an unreachable server",
            {"path": "s3://shop/k", "endpoint": "{server}"},
            "Could not connect",
            ErrorType.TRANSIENT,
            needs="closed_port",
        ),
    )

    def circuit(self, inputs: FileReadInputs) -> str | None:
        return circuit_of(inputs, inputs.path)

    def warm_up(self) -> None:
        warm_up()

    def execute(self, inputs: FileReadInputs, ctx: StepContext) -> Result:
        most = inputs.max_bytes + 1
        if inputs.length is not None:
            most = min(most, inputs.length)
        with stores(inputs, ctx) as opened:
            store, place = opened.at(inputs.path)
            if inputs.store:
                parts = _Parts(store, place, inputs, most)
                content: Any = ctx.store_content(parts)
                size, facts = parts.size, parts.facts
            else:
                data, facts = store.read(place, inputs.start, most)
                size = len(data)
        if size > inputs.max_bytes:
            raise _too_many(inputs)
        if not inputs.store:
            content = decoded(data, inputs.encoding, inputs.charset, inputs.path)
        outputs = FileReadOutputs(
            path=inputs.path,
            content=content,
            bytes=size,
            size=facts.bytes,
            modified=facts.modified,
            etag=facts.etag,
            version=facts.version,
            content_type=facts.content_type,
        )
        return Result(outputs.model_dump(mode="json") | {"content": content})


class _Parts:
    """The bytes of a file, read in parts, which must all belong to one version of the file."""

    def __init__(
        self, store: Store, place: FileLocation, inputs: FileReadInputs, most: int
    ) -> None:
        self._store, self._place, self._inputs, self._most = store, place, inputs, most
        self.size, self.facts = 0, Facts(inputs.path)

    def __iter__(self) -> Iterator[bytes]:
        while self.size < self._most:
            begin = self._inputs.start + self.size
            part, facts = self._store.read(self._place, begin, min(PART, self._most - self.size))
            if self.size and _version(facts) != _version(self.facts):
                raise StepError(
                    f"{self._inputs.path!r} has changed while it was read", ErrorType.TRANSIENT
                )
            self.size, self.facts = self.size + len(part), facts
            if self.size > self._inputs.max_bytes:
                raise _too_many(self._inputs)
            yield part
            if not part or begin + len(part) >= facts.bytes:
                return


def _version(facts: Facts) -> Any:
    return facts.etag or facts.modified


def _too_many(inputs: FileReadInputs) -> StepError:
    return StepError(
        f"{inputs.path!r} holds more than {inputs.max_bytes} bytes (maxBytes): read it in "
        "ranges (start, length), or raise maxBytes"
    )
