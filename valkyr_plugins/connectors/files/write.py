"""`file.write`: write a whole file, or append to one."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from runners.public.modules import (
    Bad,
    Module,
    ModuleOutputs,
    Result,
    StepContext,
    StoredContent,
)
from valkyr_plugins.connectors.files.inputs import (
    CIRCUIT_TARGET,
    Charset,
    Encoding,
    StoreInputs,
    circuit_of,
    encoded,
    stores,
    warm_up,
)


class FileWriteInputs(StoreInputs):
    """The file to write, and its content."""

    path: str = Field(
        description="A path in the files folder, where missing folders are created; or "
        "s3://bucket/key.",
        examples=["reports/{{ execution.id }}.txt", "s3://shop/reports/today.csv"],
        max_length=4_096,
    )
    content: str | StoredContent = Field(
        description="The content, encoded as `encoding` says; or stored content, such as the "
        "body of `http.request` with `store`, which is written unchanged, in parts."
    )
    encoding: Encoding = Field(
        "text", description="text: written in `charset`. base64: decoded, then written."
    )
    charset: Charset = Field("utf-8", description="The charset, if `encoding` is text.")
    mode: Literal["overwrite", "create", "append"] = Field(
        "overwrite",
        description=(
            "overwrite: in the files folder and S3, readers see the old file or the new one, never "
            "a part. create: fails if the file exists with different content. append: adds at the "
            "end, and after a crash may add the same content twice; only in the files folder, and "
            "not for stored content. Stores other than S3 and the files folder support only "
            "overwrite."
        ),
    )
    content_type: str | None = Field(
        None,
        max_length=200,
        pattern=r"^[\w.+-]+/[\w.+-]+( *; *[\w.+-]+=[\w.+-]+)*$",
        description="The media type that a store such as S3 records for the file.",
        examples=["text/csv; charset=utf-8"],
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "FileWriteInputs":
        if not isinstance(self.content, str):
            if self.mode == "append":
                raise ValueError("stored content cannot be appended: write a file of its own")
            if self.encoding != "text" or self.charset != "utf-8":
                raise ValueError("stored content has no encoding and no charset: remove them")
        return self


class FileWriteOutputs(ModuleOutputs):
    """The path, the size and the identifiers of the written file."""

    path: str = Field(description="The path that was written.")
    bytes: int = Field(description="The number of bytes that this step wrote.")
    etag: str | None = Field(description="The ETag that the store gives this content, if any.")
    version: str | None = Field(
        description="The ID of this version of the file, if the store keeps several versions."
    )


class FileWrite(Module[FileWriteInputs]):
    """Writes or appends to a file in the files folder, or writes an object in S3.

    Overwriting and creating are safe to repeat; appending may add the content twice after a crash.
    Paths in S3 need a credential of type s3 or aws_sts.
    """

    type = "file.write"
    title = "Write file"
    category = "files"
    queue = "io"
    effect = "external"
    credential = ("s3",)
    judges_hosts = "credential"
    addresses = ("endpoint",)
    circuit_target = CIRCUIT_TARGET
    Inputs = FileWriteInputs
    Outputs = FileWriteOutputs
    example: ClassVar = {"path": "reports/{{ input.day }}.txt", "content": "{{ previous.text }}"}
    bad_inputs = (
        Bad("a path outside", {"path": "../x", "content": ""}, "below the files folder"),
        Bad("no name", {"path": "", "content": ""}, "path is empty"),
        Bad("a backslash", {"path": "a\\b", "content": ""}, "below the files folder"),
        Bad("another scheme", {"path": "sftp://h/x", "content": ""}, "not allowed here"),
        Bad("a lone surrogate", {"path": "a", "content": "\ud800"}, "surrogates not allowed"),
        Bad(
            "a character that the charset lacks",
            {"path": "a", "content": "Ω", "charset": "latin-1"},
            "not text that latin-1 can hold",
        ),
        Bad(
            "incomplete Base64",
            {"path": "a", "content": "QUJ", "encoding": "base64"},
            "content is not base64",
        ),
        Bad(
            "a header in the content type",
            {"path": "a", "content": "", "contentType": "text/csv\r\nx: y"},
            "contentType",
        ),
        Bad(
            "appending in S3",
            {"path": "s3://shop/log", "content": "x", "mode": "append"},
            "cannot be appended to",
        ),
        Bad(
            "a local server as the endpoint",
            {"path": "s3://shop/k", "content": "x", "endpoint": "http://localhost:9000"},
            "a private or special address",
        ),
        Bad(
            "stored content with a charset",
            {"path": "a", "content": {"$stored": "1", "type": "bytes"}, "charset": "cp1252"},
            "no encoding and no charset",
        ),
        Bad(
            "a content that no step has stored",
            {"path": "a", "content": {"text": "x"}},
            "expected stored content",
        ),
        Bad("over a folder", {"path": "folder", "content": ""}, "is a folder", needs="files"),
        Bad(
            "over a link to a folder",
            {"path": "away/x", "content": ""},
            "symbolic links are not followed",
            needs="files",
        ),
    )

    def circuit(self, inputs: FileWriteInputs) -> str | None:
        return circuit_of(inputs, inputs.path)

    def warm_up(self) -> None:
        warm_up()

    def execute(self, inputs: FileWriteInputs, ctx: StepContext) -> Result:
        if isinstance(inputs.content, str):
            data = encoded(inputs.content, inputs.encoding, inputs.charset)
            size = len(data)
            with stores(inputs, ctx) as opened:
                store, place = opened.at(inputs.path)
                facts = store.write(place, data, inputs.mode, inputs.content_type)
        else:
            size = inputs.content["bytes"]
            with stores(inputs, ctx) as opened, ctx.open_content(inputs.content) as file:
                store, place = opened.at(inputs.path)
                facts = store.copy(place, file, inputs.mode, inputs.content_type)
        outputs = FileWriteOutputs(
            path=inputs.path, bytes=size, etag=facts.etag, version=facts.version
        )
        return Result(outputs.model_dump(mode="json"))
