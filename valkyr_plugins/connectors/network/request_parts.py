"""Common parts of HTTP requests: URL, headers, query, time limit and body."""

import base64
import binascii
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from runners.public.modules import ModuleInputs, StepError
from valkyr_plugins.connectors.files.root import folder_of, open_file

# Read and write files below the files folder, for the bodies of requests and responses.


def read_file(path: str, limit: int) -> bytes:
    """Return the whole file. Raises StepError if it is missing or larger than `limit` bytes."""
    with folder_of(path, create=False) as (folder, name):
        handle = open_file(folder, name, path, os.O_RDONLY)
    with os.fdopen(handle, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise StepError(f"{path!r} has more than the {limit} bytes that can be sent")
    return data


@contextmanager
def written_whole(path: str) -> Iterator[BinaryIO]:
    """Yield a new file that replaces `path` if the block succeeds, and is deleted otherwise.

    Readers see the old file or the new one, never a part.
    """
    with folder_of(path, create=True) as (folder, name):
        temporary = f".{name[:100]}.{secrets.token_hex(8)}.tmp"
        handle = open_file(folder, temporary, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        except IsADirectoryError:
            raise StepError(f"{path!r} is a folder") from None
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)


MEBIBYTE = 1024 * 1024
MAX_URL = 8_192
Scalar = str | bool | int | float
# With these headers, an author could make client and server read a request differently.
FORBIDDEN_HEADERS = frozenset({"content-length", "transfer-encoding", "connection", "upgrade"})
USUAL_PORTS = {"http": 80, "https": 443}


class AddressedInputs(ModuleInputs):
    """An address, with the headers and options of every request to it."""

    url: str = Field(
        description="The address, http or https.",
        examples=["https://api.example.com/orders/{{ input.orderId }}"],
        max_length=MAX_URL,
    )
    headers: dict[str, str | int | float] = Field(
        default_factory=dict,
        description="Request headers.",
        examples=[{"Accept": "application/json"}],
    )
    timeout_seconds: float | None = Field(
        None,
        gt=0,
        description=(
            "Timeout in seconds for each request, including the body and any redirects; at most "
            "the step's timeout."
        ),
        examples=[10],
    )

    @field_validator("url")
    @classmethod
    def _url_is_http(cls, url: str) -> str:
        return http_url(url)

    @field_validator("headers")
    @classmethod
    def _headers_are_safe(cls, headers: dict[str, str | int | float]) -> Any:
        refused = sorted(name for name in headers if name.lower() in FORBIDDEN_HEADERS)
        if refused:
            raise ValueError(
                f"{', '.join(refused)} cannot be set: Valkyr derives them from the request"
            )
        return headers


class QueriedInputs(AddressedInputs):
    """An address with a query."""

    query: dict[str, Scalar | list[Scalar] | None] = Field(
        default_factory=dict,
        description="Parameters of the URL's query. Null omits a key, and a list repeats it.",
        examples=[{"page": 2, "tag": ["new", "paid"]}],
    )


def http_url(url: str) -> str:
    """Return an HTTP(S) URL unchanged. Raises ValueError if its scheme, host or port is invalid."""
    parts = urlsplit(url)
    # `parts.port` raises ValueError if the port is not a number.
    if parts.port == 0 or parts.scheme.lower() not in USUAL_PORTS or not parts.hostname:
        raise ValueError("expected a URL that begins with http:// or https:// and names a host")
    return url


def target(url: str, word: str = "http.request") -> str:
    """Return the target for a circuit: `word:host`, with the port unless it is the default.

    Step types with the same `word` share the circuit of a host: all their steps fail if the host
    fails.
    """
    parts = urlsplit(url)
    usual = parts.port in (None, USUAL_PORTS.get(parts.scheme.lower()))
    return f"{word}:{parts.hostname}" + ("" if usual else f":{parts.port}")


# Make the body of a request: JSON, text, bytes, a web form, or parts with files.


MAX_UPLOAD = 64 * MEBIBYTE


class MultipartPart(ModuleInputs):
    """A part of a multipart body: text, bytes in Base64, or a file below the files folder."""

    name: str = Field(description="The field's name.", min_length=1)
    value: str | None = Field(None, description="Text.")
    base64: str | None = Field(None, description="Bytes, as Base64.")
    path: str | None = Field(None, description="A file below the files folder.")
    filename: str | None = Field(
        None, description="The file's name; default: the last part of the path."
    )
    content_type: str | None = Field(None, description="Default: derived from `filename`.")

    @model_validator(mode="after")
    def _one_source(self) -> "MultipartPart":
        if sum(source is not None for source in (self.value, self.base64, self.path)) != 1:
            raise ValueError("set exactly one of value, base64 and path for each part")
        return self


def json_content(value: Any) -> dict[str, bytes]:
    """Return a JSON body for httpx, which treats None as no body. Raises StepError."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise StepError(f"json cannot be written as JSON: {error}") from error
    return {"content": _utf8(text, "json")}


def text_content(text: str) -> dict[str, bytes]:
    """Return a text body for httpx, in UTF-8."""
    return {"content": _utf8(text, "body")}


def bytes_content(encoded: str) -> dict[str, bytes]:
    """Return a body for httpx from Base64. Raises StepError if it is invalid."""
    return {"content": _decoded(encoded, "bodyBase64")}


def form_content(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields as httpx's argument for a web form."""
    return {"data": dict(fields)}


def parts_content(parts: list[MultipartPart]) -> dict[str, Any]:
    """Return httpx's argument for a multipart body of at most 64 MiB. Raises StepError."""
    files, left = [], MAX_UPLOAD
    for part in parts:
        data = _part_bytes(part, left)
        left -= len(data)
        if left < 0:
            raise StepError(f"multipart has more than {MAX_UPLOAD} bytes: send less at a time")
        filename = part.filename
        if filename is None and part.value is None:
            filename = (part.path or part.name).rpartition("/")[2]
        files.append((part.name, _named(filename, data, part.content_type)))
    return {"files": files}


def _named(filename: str | None, data: bytes, content_type: str | None) -> tuple[Any, ...]:
    return (filename, data) if content_type is None else (filename, data, content_type)


def _part_bytes(part: MultipartPart, limit: int) -> bytes:
    if part.path is not None:
        return read_file(part.path, limit)
    if part.base64 is not None:
        return _decoded(part.base64, f"base64 of part {part.name!r}")
    return _utf8(part.value or "", f"value of part {part.name!r}")


def _utf8(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise StepError(
            f"{what} contains a lone surrogate at character {error.start}, which is not text: "
            "decode the source with errors='replace'"
        ) from None


def _decoded(text: str, what: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise StepError(f"{what} is not Base64: {error}") from None
