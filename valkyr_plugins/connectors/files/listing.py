"""`file.list`: list the entries of a folder, in the order of their paths."""

from fnmatch import fnmatchcase
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from runners.public.modules import Bad, Module, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.files.inputs import (
    CIRCUIT_TARGET,
    StoreInputs,
    circuit_of,
    stores,
    warm_up,
)
from valkyr_plugins.connectors.files.store import MAX_SCANNED, Facts, Stores

# Glob patterns for paths: `*`, `?` and `[…]` match within one name, `**` matches any folders.
#
# They are matched part by part without backtracking, so that no pattern takes long.


MAX_PARTS = 32
ANY_FOLDERS = "**"


class FilePattern:
    """A parsed pattern for paths. Raises ValueError for more than 32 parts."""

    def __init__(self, text: str) -> None:
        self.parts = [part for part in text.split("/") if part]
        if len(self.parts) > MAX_PARTS:
            raise ValueError(f"expected at most {MAX_PARTS} parts, found {len(self.parts)}")

    @property
    def recursive(self) -> bool:
        """Return whether the pattern can match files in subfolders."""
        return len(self.parts) > 1 or ANY_FOLDERS in self.parts

    def matches(self, path: str) -> bool:
        """Return whether the pattern matches the whole path."""
        at = self._further({0})
        for name in path.split("/"):
            reached = set()
            for position in at:
                if position == len(self.parts):
                    continue
                part = self.parts[position]
                if part == ANY_FOLDERS:
                    reached.add(position)
                elif fnmatchcase(name, part):
                    reached.add(position + 1)
            at = self._further(reached)
            if not at:
                return False
        return len(self.parts) in at

    def _further(self, positions: set[int]) -> set[int]:
        """Return the positions, and the next one after each `**`, which can match zero folders."""
        found = set(positions)
        for position in range(len(self.parts)):
            if position in found and self.parts[position] == ANY_FOLDERS:
                found.add(position + 1)
        return found


MAX_ENTRIES = 10_000


class FileListInputs(StoreInputs):
    """The folder to list, and the pattern that paths must match."""

    path: str = Field(
        "",
        description="A folder below the files folder (the empty path is the files folder "
        "itself), or s3://bucket/folder.",
        examples=["orders", "s3://shop/orders"],
        max_length=4_096,
    )
    pattern: str | None = Field(
        None,
        max_length=500,
        description=(
            "List only entries whose path, relative to the folder, matches this pattern: *, ? and "
            "[abc] match within a name, ** across folders. A pattern with '/' or ** also searches "
            "subfolders."
        ),
        examples=["*.csv", "**/*.csv"],
    )
    recursive: bool = Field(
        False,
        description="Include files in subfolders; the subfolders themselves are then not listed.",
    )
    max_entries: int = Field(
        1_000,
        ge=1,
        le=MAX_ENTRIES,
        description="If there are more entries than this, the step fails.",
    )

    @field_validator("pattern")
    @classmethod
    def _is_pattern(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            FilePattern(pattern)
        return pattern


class FileListEntry(ModuleOutputs):
    """A file or a folder."""

    path: str = Field(description="The path, as other file steps take it.")
    kind: Literal["file", "folder"] = Field(description="The kind of entry.")
    bytes: int = Field(description="A file's size in bytes.")
    modified: str | None = Field(description="When it was last changed, in ISO 8601, if known.")
    etag: str | None = Field(description="The ETag that the store gives this content, if any.")


class FileListOutputs(ModuleOutputs):
    """The entries found."""

    path: str = Field(description="The path that was listed.")
    entries: list[FileListEntry] = Field(description="The files and folders, ordered by path.")
    count: int = Field(description="The number of entries.")


class FileList(Module[FileListInputs]):
    """Lists files and folders below the files folder, or in S3, with their sizes and times.

    Symbolic links are omitted. Paths in S3 need a credential of type s3 or aws_sts, except for
    public buckets.
    """

    type = "file.list"
    title = "List files"
    category = "files"
    queue = "io"
    credential = ("s3",)
    judges_hosts = "credential"
    addresses = ("endpoint",)
    circuit_target = CIRCUIT_TARGET
    Inputs = FileListInputs
    Outputs = FileListOutputs
    example: ClassVar = {"path": "orders", "pattern": "*.csv"}
    bad_inputs = (
        Bad("a path outside", {"path": ".."}, "below the files folder"),
        Bad("the root", {"path": "/"}, "below the files folder"),
        Bad("no bucket", {"path": "s3://"}, "names no bucket"),
        Bad("a pattern that is too long", {"pattern": "*/" * 40}, "at most 32 parts"),
        Bad("another scheme", {"path": "memory://x"}, "not allowed here"),
        Bad(
            "a private server",
            {"path": "s3://shop", "endpoint": "http://0x7f000001:9000"},
            "a private or special address",
        ),
        Bad("a missing folder", {"path": "nowhere"}, "there is no folder", needs="files"),
        Bad("a file", {"path": "large.txt"}, "not a regular folder", needs="files"),
        Bad("a link to a folder", {"path": "away"}, "symbolic links", needs="files"),
        Bad("more than may be listed", {"maxEntries": 1}, "maxEntries", needs="files"),
    )

    def circuit(self, inputs: FileListInputs) -> str | None:
        return circuit_of(inputs, inputs.path)

    def warm_up(self) -> None:
        warm_up()

    def execute(self, inputs: FileListInputs, ctx: StepContext) -> Result:
        with stores(inputs, ctx) as opened:
            found = sorted(_found(inputs, opened), key=lambda facts: facts.path)
        entries = [
            FileListEntry(
                path=facts.path,
                kind=facts.kind,
                bytes=facts.bytes,
                modified=facts.modified,
                etag=facts.etag,
            )
            for facts in found
        ]
        outputs = FileListOutputs(path=inputs.path, entries=entries, count=len(entries))
        return Result(outputs.model_dump(mode="json"))


def _found(inputs: FileListInputs, opened: Stores) -> list[Facts]:
    store, place = opened.at(inputs.path, folder=True)
    pattern = FilePattern(inputs.pattern) if inputs.pattern else None
    recursive = inputs.recursive or (pattern is not None and pattern.recursive)
    found: list[Facts] = []
    for number, facts in enumerate(store.entries(place, recursive)):
        if number >= MAX_SCANNED:
            raise StepError(
                f"{inputs.path!r} contains more than {MAX_SCANNED:,} entries: list one of its "
                "folders instead"
            )
        if pattern is not None and not pattern.matches(_seen_from(inputs.path, facts.path)):
            continue
        if len(found) == inputs.max_entries:
            raise StepError(
                f"{inputs.path!r} has more than {inputs.max_entries} entries (maxEntries): "
                "use a narrower path or pattern, or raise maxEntries (at most "
                f"{MAX_ENTRIES:,})"
            )
        found.append(facts)
    return found


def _seen_from(folder: str, path: str) -> str:
    """Return the part of a path that is below the requested folder."""
    if "://" not in folder:
        folder = "/".join(part for part in folder.split("/") if part not in ("", "."))
    return path.removeprefix(folder.rstrip("/")).lstrip("/")
