"""The files of the archive, and the file of each archived execution."""

from django.db import models
from django.db.models import Q

from executions.public.database import ClockTimestamp, uuid7
from executions.public.language import lazy
from executions.public.models import Workflow, Workspace


class FileState(models.TextChoices):
    """The state of an archive file."""

    WRITING = "WRITING", lazy("being written")
    STORED = "STORED", lazy("stored")
    DELETING = "DELETING", lazy("being deleted")


class ArchiveFile(models.Model):
    """A Parquet file with executions of one workspace that ended on one day.

    The row is committed before the file is written, so every file in the storage has a row. `stale`
    is true if the file contains executions that its index no longer lists; the file is then written
    again without these executions.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    day = models.DateField(help_text="The day, in UTC, on which the executions ended.")
    part = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=FileState.choices, default=FileState.WRITING)
    executions = models.PositiveIntegerField(default=0)
    runs = models.PositiveBigIntegerField(default=0)
    dead_letters = models.PositiveIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True, default="")
    keys = models.JSONField(
        default=list, help_text="The keys with which values in the file are sealed."
    )
    stale = models.BooleanField(default=False)
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    stored_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-day", "-id"]
        verbose_name = lazy("archive file")
        verbose_name_plural = lazy("archive")
        constraints = [
            models.UniqueConstraint(fields=["workspace", "day", "part"], name="archive_file_once"),
        ]
        indexes = [
            models.Index(fields=["day", "id"], name="archive_file_list"),
            models.Index(
                fields=["id"],
                condition=~Q(state="STORED") | Q(stale=True),
                name="archive_file_unfinished",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.day:%Y-%m-%d} #{self.part}"

    @property
    def name(self) -> str:
        """Return the file's name, below the archive's address."""
        return f"{self.workspace_id}/{self.day:%Y/%m/%d}/part-{self.part:05d}-{self.pk}.parquet"


class ArchivedExecution(models.Model):
    """An execution's entry in the index; `file` is null if the execution was erased.

    `ended_at` is the end of the archived execution. A reopened execution ends later and is archived
    again. Permissions are checked with this row, before the file is read. The row is small (about
    150 bytes with its indexes), because there may be millions.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    # The constraint of the file's workspace suffices.
    workspace = models.ForeignKey(
        Workspace,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    # No constraint, because the workflow may be deleted. Null if the execution was erased.
    workflow = models.ForeignKey(
        Workflow,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
        null=True,
    )
    ended_at = models.DateTimeField(null=True)
    file = models.ForeignKey(ArchiveFile, on_delete=models.PROTECT, null=True, related_name="index")
    row_group = models.PositiveSmallIntegerField(default=0)

    when_moved = "late"

    class Meta:
        ordering = ["-id"]
        verbose_name = lazy("archived execution")
        verbose_name_plural = lazy("archived executions")

    def __str__(self) -> str:
        return str(self.id)


class KeptLetter(models.Model):
    """The row of a deleted dead letter, kept until its execution is archived and deleted.

    The dead letters of a restored execution are also kept, because it may be reopened and archived
    again.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="+")
    execution_id = models.UUIDField(db_index=True)
    row = models.JSONField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return str(self.id)
