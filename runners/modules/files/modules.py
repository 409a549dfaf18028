"""`file.read` and `file.write`: whole files, as text or Base64, below the files folder."""

import base64
import binascii
import fcntl
import os
import secrets
from contextlib import suppress
from typing import Literal

from pydantic import Field

from runners.modules.base import Module, ModuleInputs, ModuleOutputs, Result, StepContext, StepError
from runners.modules.files.root import folder_of, open_file

MEBIBYTE = 1024 * 1024
Encoding = Literal["text", "base64"]


class FileReadInputs(ModuleInputs):
    """What to read."""

    path: str = Field(description="Below the files folder.", examples=["orders/today.csv"])
    encoding: Encoding = Field(
        "text", description="text: the file is UTF-8. base64: any bytes, given as Base64."
    )
    max_bytes: int = Field(
        5 * MEBIBYTE, ge=1, le=64 * MEBIBYTE, description="A larger file fails the step."
    )


class FileReadOutputs(ModuleOutputs):
    """What was read."""

    path: str = Field(description="Where it was read.")
    content: str = Field(description="The file, as text or Base64.")
    bytes: int = Field(description="Its size.")


class FileRead(Module[FileReadInputs]):
    """Reads a file below the files folder."""

    type = "file.read"
    title = "Read file"
    category = "files"
    queue = "io"
    Inputs = FileReadInputs
    Outputs = FileReadOutputs

    def execute(self, inputs: FileReadInputs, ctx: StepContext) -> Result:
        with folder_of(inputs.path, create=False) as (folder, name):
            handle = open_file(folder, name, inputs.path, os.O_RDONLY)
        with os.fdopen(handle, "rb") as file:
            data = file.read(inputs.max_bytes + 1)
        if len(data) > inputs.max_bytes:
            raise StepError(f"{inputs.path!r} holds more than {inputs.max_bytes} bytes (maxBytes)")
        content = _decoded(data, inputs)
        return Result({"path": inputs.path, "content": content, "bytes": len(data)})


def _decoded(data: bytes, inputs: FileReadInputs) -> str:
    if inputs.encoding == "base64":
        return base64.b64encode(data).decode("ascii")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StepError(
            f"{inputs.path!r} is not UTF-8 text (byte {error.start}): read it as base64"
        ) from error


class FileWriteInputs(ModuleInputs):
    """What to write where."""

    path: str = Field(
        description="Below the files folder; folders on the way are made.",
        examples=["reports/{{ execution.id }}.txt"],
    )
    content: str = Field(description="What to write, as `encoding` says.")
    encoding: Encoding = Field(
        "text", description="text: written as UTF-8. base64: decoded, then written."
    )
    mode: Literal["overwrite", "create", "append"] = Field(
        "overwrite",
        description=(
            "overwrite: readers see the old file or the new one, never a part. create: fails "
            "where the file exists with another content. append: adds at the end, and after a "
            "crash may add the same twice."
        ),
    )


class FileWriteOutputs(ModuleOutputs):
    """What was written."""

    path: str = Field(description="Where it was written.")
    bytes: int = Field(description="How many bytes this step wrote.")


class FileWrite(Module[FileWriteInputs]):
    """Writes a file below the files folder, in one go.

    Overwriting and creating are safe to repeat; appending may add the same twice after a crash.
    """

    type = "file.write"
    title = "Write file"
    category = "files"
    queue = "io"
    effect = "external"
    Inputs = FileWriteInputs
    Outputs = FileWriteOutputs

    def execute(self, inputs: FileWriteInputs, ctx: StepContext) -> Result:
        data = _encoded(inputs)
        with folder_of(inputs.path, create=True) as (folder, name):
            if inputs.mode == "append":
                _append(folder, name, inputs.path, data)
            elif inputs.mode == "create" and _exists(folder, name):
                _require_same(folder, name, inputs.path, data)
            else:
                replace(folder, name, inputs.path, data, new=inputs.mode == "create")
        return Result({"path": inputs.path, "bytes": len(data)})


def _encoded(inputs: FileWriteInputs) -> bytes:
    try:
        if inputs.encoding == "base64":
            return base64.b64decode(inputs.content, validate=True)
        return inputs.content.encode("utf-8")
    except (binascii.Error, UnicodeEncodeError) as error:
        raise StepError(f"content is not {inputs.encoding} that can be written: {error}") from error


def replace(folder: int, name: str, path: str, data: bytes, *, new: bool = False) -> None:
    """Put a whole file in its place at once; with `new`, StepError where there is one already."""
    temporary = f".{name[:100]}.{secrets.token_hex(8)}.tmp"
    handle = open_file(folder, temporary, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if new:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        else:
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except FileExistsError:
        raise StepError(f"{path!r} exists already") from None
    except IsADirectoryError:
        raise StepError(f"{path!r} is a folder") from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _require_same(folder: int, name: str, path: str, data: bytes) -> None:
    """An equal file is what an earlier attempt of this step left: that is no conflict."""
    with os.fdopen(open_file(folder, name, path, os.O_RDONLY), "rb") as file:
        if file.read(len(data) + 1) != data:
            raise StepError(f"{path!r} exists already, with another content")


def _append(folder: int, name: str, path: str, data: bytes) -> None:
    handle = open_file(folder, name, path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with os.fdopen(handle, "ab", buffering=0) as file:
        # One writer at a time, so that two steps' lines never mix.
        fcntl.flock(file, fcntl.LOCK_EX)
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())
