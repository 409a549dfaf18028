"""`file.delete`: delete a file."""

from typing import ClassVar

from pydantic import Field

from runners.public.modules import Bad, Module, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.files.inputs import (
    CIRCUIT_TARGET,
    StoreInputs,
    circuit_of,
    stores,
    warm_up,
)


class FileDeleteInputs(StoreInputs):
    """The file to delete."""

    path: str = Field(
        description="One file in the files folder, or s3://bucket/key; not a folder or a pattern.",
        examples=["orders/today.csv"],
        max_length=4_096,
    )
    missing_ok: bool = Field(
        True,
        description=(
            "Whether a missing file is acceptable. If not, a step that is repeated after a "
            "crash may fail because it has already deleted the file."
        ),
    )


class FileDeleteOutputs(ModuleOutputs):
    """The result of the deletion."""

    path: str = Field(description="The deleted path.")
    deleted: bool = Field(description="Whether the file existed.")


class FileDelete(Module[FileDeleteInputs]):
    """Deletes one file in the files folder, or one object in S3.

    A versioned bucket keeps the object's versions. Paths in S3 need a credential of type s3 or
    aws_sts.
    """

    type = "file.delete"
    title = "Delete file"
    category = "files"
    queue = "io"
    effect = "idempotent"
    credential = ("s3",)
    judges_hosts = "credential"
    addresses = ("endpoint",)
    circuit_target = CIRCUIT_TARGET
    Inputs = FileDeleteInputs
    Outputs = FileDeleteOutputs
    example: ClassVar = {"path": "orders/{{ input.day }}.csv"}
    bad_inputs = (
        Bad("a path outside", {"path": "a/../../x"}, "below the files folder"),
        Bad("no name", {"path": "."}, "path is empty"),
        Bad("a whole bucket", {"path": "s3://shop"}, "must name a key"),
        Bad("a local path by URL", {"path": "file:///etc/passwd"}, "is not supported"),
        Bad(
            "a private server",
            {"path": "s3://shop/k", "endpoint": "http://[::1]:9000"},
            "a private or special address",
        ),
        Bad("a folder", {"path": "folder"}, "it is not a file", needs="files"),
        Bad(
            "a missing file that must exist",
            {"path": "nowhere.txt", "missingOk": False},
            "there is no file",
            needs="files",
        ),
    )

    def circuit(self, inputs: FileDeleteInputs) -> str | None:
        return circuit_of(inputs, inputs.path)

    def warm_up(self) -> None:
        warm_up()

    def execute(self, inputs: FileDeleteInputs, ctx: StepContext) -> Result:
        with stores(inputs, ctx) as opened:
            store, place = opened.at(inputs.path)
            deleted = store.delete(place)
        if not (deleted or inputs.missing_ok):
            raise StepError(f"there is no file {inputs.path!r}, and missingOk is false")
        return Result({"path": inputs.path, "deleted": deleted})
