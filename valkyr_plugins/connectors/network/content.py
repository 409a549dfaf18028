"""The bodies of requests: JSON, text, bytes, a web form, parts with files."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field, model_validator

from runners.public.modules import ModuleInputs, StepError
from valkyr_plugins.connectors.network.addressed import MEBIBYTE
from valkyr_plugins.connectors.network.stored import read_file

MAX_UPLOAD = 64 * MEBIBYTE


class MultipartPart(ModuleInputs):
    """A part of a multipart body: a plain value, or a file's bytes."""

    name: str = Field(description="The field's name.", min_length=1)
    value: str | None = Field(None, description="Text.")
    base64: str | None = Field(None, description="Bytes, as Base64.")
    path: str | None = Field(None, description="A file below the files folder.")
    filename: str | None = Field(
        None, description="What the file is called; by default the path's last name."
    )
    content_type: str | None = Field(None, description="By default guessed from `filename`.")

    @model_validator(mode="after")
    def _one_source(self) -> "MultipartPart":
        if sum(source is not None for source in (self.value, self.base64, self.path)) != 1:
            raise ValueError("give one of value, base64 and path for each part")
        return self


def json_content(value: Any) -> dict[str, bytes]:
    """A JSON body. Written here because httpx takes a null for no body at all."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise StepError(f"json cannot be written as JSON: {error}") from error
    return {"content": _utf8(text, "json")}


def text_content(text: str) -> dict[str, bytes]:
    """The text, in UTF-8."""
    return {"content": _utf8(text, "body")}


def bytes_content(encoded: str) -> dict[str, bytes]:
    """The bytes that a Base64 text stands for."""
    return {"content": _decoded(encoded, "bodyBase64")}


def form_content(fields: Mapping[str, Any]) -> dict[str, Any]:
    """A web form."""
    return {"data": dict(fields)}


def parts_content(parts: list[MultipartPart]) -> dict[str, Any]:
    """Parts with files; all together at most 64 MiB, since a retry sends them again."""
    files, left = [], MAX_UPLOAD
    for part in parts:
        data = _part_bytes(part, left)
        left -= len(data)
        if left < 0:
            raise StepError(f"multipart holds more than {MAX_UPLOAD} bytes: send fewer at a time")
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
            f"{what} holds a lone surrogate at character {error.start}, which is no text: "
            "decode what it was made of with errors='replace'"
        ) from None


def _decoded(text: str, what: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise StepError(f"{what} is not Base64: {error}") from None
