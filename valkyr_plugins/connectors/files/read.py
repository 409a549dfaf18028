"""`file.read`: read a file, or a range of it, as text or Base64."""

from typing import ClassVar

from pydantic import Field

from runners.public.modules import (
    Bad,
    ErrorType,
    Module,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
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
from valkyr_plugins.connectors.files.store import MAX_BYTES, MEBIBYTE


class FileReadInputs(StoreInputs):
    """The file to read, and the range."""

    path: str = Field(
        description="Below the files folder, or s3://bucket/key.",
        examples=["orders/today.csv", "s3://shop/orders/today.csv"],
        max_length=4_096,
    )
    encoding: Encoding = Field(
        "text", description="text: the file is text in `charset`. base64: any bytes, as Base64."
    )
    charset: Charset = Field("utf-8", description="The charset of a text.")
    start: int = Field(0, ge=0, description="The first byte to read, counted from 0.")
    length: int | None = Field(
        None, ge=1, le=MAX_BYTES, description="Number of bytes to read; by default to the end."
    )
    max_bytes: int = Field(
        5 * MEBIBYTE,
        ge=1,
        le=MAX_BYTES,
        description="If there are more bytes than this, the step fails.",
    )


class FileReadOutputs(ModuleOutputs):
    """The content of the file, and its metadata."""

    path: str = Field(description="Where it was read.")
    content: str = Field(description="The file or the range, as text or Base64.")
    bytes: int = Field(description="Number of bytes read.")
    size: int = Field(description="The size of the whole file in bytes.")
    modified: str | None = Field(description="When it was last changed, in ISO 8601, if known.")
    etag: str | None = Field(description="The store's ETag for this content, if it has one.")
    version: str | None = Field(description="The store's version, if it keeps several versions.")
    content_type: str | None = Field(description="The media type that the store has for it.")


class FileRead(Module[FileReadInputs]):
    """Reads a file below the files folder, or an object in S3, whole or a range of it.

    S3 needs a credential of type s3, except for public objects.
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
            data, facts = store.read(place, inputs.start, most)
        if len(data) > inputs.max_bytes:
            raise StepError(
                f"{inputs.path!r} holds more than {inputs.max_bytes} bytes (maxBytes): read it in "
                "ranges (start, length), or raise maxBytes"
            )
        content = decoded(data, inputs.encoding, inputs.charset, inputs.path)
        outputs = FileReadOutputs(
            path=inputs.path,
            content=content,
            bytes=len(data),
            size=facts.bytes,
            modified=facts.modified,
            etag=facts.etag,
            version=facts.version,
            content_type=facts.content_type,
        )
        return Result(outputs.model_dump(mode="json"))
