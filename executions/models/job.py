"""Work that a request passes to a worker, and its result."""

from django.db import models
from django.db.models import Q

from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.models.workspace import Workspace
from executions.states import JobState

UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


class Job(models.Model):
    """One computation about one subject. A subject has at most one unfinished job of a kind.

    The job fails if it has not finished by `deadline_at`. `sent_at` is the time when the job was
    last sent to a worker. Finished jobs are deleted an hour after their creation.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=40)
    subject = models.UUIDField(
        help_text="The id of the object that the job is for, such as an execution."
    )
    requested_by = models.CharField(max_length=200)
    state = models.CharField(
        max_length=7, choices=JobState.choices, default=JobState.QUEUED, editable=False
    )
    result = models.JSONField(null=True)
    error_code = models.CharField(max_length=100, blank=True, default="")
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    sent_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    deadline_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject"],
                condition=Q(state__in=["QUEUED", "RUNNING"]),
                name="job_one_unfinished",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["QUEUED", "RUNNING"], finished_at__isnull=True)
                | Q(state__in=["FAILED", "SUCCESS"], finished_at__isnull=False),
                name="job_final_has_finished_at",
            ),
        ]
        indexes = [
            models.Index(fields=["kind", "subject", "-created_at"], name="job_of_subject"),
            models.Index(fields=["created_at"], name="job_age"),
            models.Index(
                fields=["workspace"],
                condition=Q(state__in=["QUEUED", "RUNNING"]),
                name="job_unfinished",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.subject}"
