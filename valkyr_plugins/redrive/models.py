"""Dead letters requeued together: the selection, the rate, the progress and the results.

If the plugin is removed, its tables remain, and the engine must still be able to delete its own
rows. So the foreign keys to users, groups and dead letters have ON DELETE actions in the database.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from dlq.public.models import DeadLetterEntry, FailureGroup
from executions.public.database import ClockTimestamp, set_null, uuid7
from executions.public.language import lazy
from executions.public.models import Workspace

# The states of redrives and of their items, and the allowed state changes of a redrive.
#
# Only `lifecycle.py` changes the state of a redrive, and only `items.py` changes the states of
# items while a redrive runs.


class RedriveState(models.TextChoices):
    """A redrive's state. Only `lifecycle` writes it."""

    DRAFT = "DRAFT", lazy("draft")
    RUNNING = "RUNNING", lazy("running")
    PAUSED = "PAUSED", lazy("paused")
    STOPPED = "STOPPED", lazy("stopped by its failures")
    DONE = "DONE", lazy("done")
    ABORTED = "ABORTED", lazy("aborted")


class RedriveScope(models.TextChoices):
    """The part of an execution that runs again."""

    STEP = "STEP", lazy("the failed step, in its execution")
    FROM = "FROM", lazy("from a chosen step on, in a new execution")
    EXECUTION = "EXECUTION", lazy("the whole execution, again")


class ItemState(models.TextChoices):
    """The state of one entry of a redrive."""

    QUEUED = "QUEUED", lazy("queued")
    RUNNING = "RUNNING", lazy("running")
    SUCCEEDED = "SUCCEEDED", lazy("succeeded")
    FAILED_AGAIN = "FAILED_AGAIN", lazy("failed again")
    SKIPPED = "SKIPPED", lazy("skipped")
    ABORTED = "ABORTED", lazy("not sent: the redrive was aborted")


_S = RedriveState

# For each state: the states that may follow it.
MOVES: dict[str, frozenset[str]] = {
    _S.DRAFT: frozenset({_S.RUNNING, _S.ABORTED}),
    _S.RUNNING: frozenset({_S.PAUSED, _S.STOPPED, _S.DONE, _S.ABORTED}),
    _S.PAUSED: frozenset({_S.RUNNING, _S.ABORTED}),
    _S.STOPPED: frozenset({_S.RUNNING, _S.ABORTED}),
    _S.DONE: frozenset(),
    _S.ABORTED: frozenset(),
}
FINAL = frozenset(state for state, targets in MOVES.items() if not targets)


def sources(target: str) -> tuple[str, ...]:
    """Return, sorted, the states from which a redrive may move to `target`."""
    return tuple(sorted(source for source, targets in MOVES.items() if target in targets))


class Redrive(models.Model):
    """A redrive of dead letters; after a crash, no entry is lost or requeued twice.

    `selection` is the caller's choice; the items are the entries that it selected at the creation.
    `rate` is in entries per second; `canary` is the number of entries that are sent first. The
    redrive stops if too many canaries fail (more than `stop_above` per cent; default: 0) or, with
    `stop_above`, too many of the last `stop_window` entries. `busy` is true while the driver has
    work.
    """

    AUDITED_AS = "Redrive"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    group = models.ForeignKey(
        FailureGroup,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="redrives",
        db_constraint=False,
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=set_null,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
    )
    created_by_name = models.CharField(max_length=200)
    reason = models.TextField(blank=True, default="")
    selection = models.JSONField()
    scope = models.CharField(max_length=10, choices=RedriveScope.choices, default=RedriveScope.STEP)
    from_step = models.CharField(max_length=1000, blank=True, default="")
    version = models.CharField(
        max_length=10,
        default="pinned",
        help_text="For new executions: pinned, latest or a version number.",
    )
    overrides = models.JSONField(null=True, blank=True, help_text="A JSON merge patch.")
    expression = models.TextField(
        blank=True, default="", help_text="A template that returns the patch for each dead letter."
    )
    rate = models.FloatField(null=True, blank=True)
    max_in_flight = models.PositiveIntegerField(null=True, blank=True)
    canary = models.PositiveIntegerField(default=0)
    stop_above = models.FloatField(null=True, blank=True)
    stop_window = models.PositiveIntegerField(default=100)
    state = models.CharField(max_length=8, choices=RedriveState.choices, default=RedriveState.DRAFT)
    stop_reason = models.TextField(blank=True, default="")
    total = models.PositiveIntegerField(default=0)
    truncated = models.BooleanField(
        default=False, help_text="Whether there were more dead letters than one redrive can have."
    )
    sent = models.PositiveIntegerField(default=0)
    running = models.PositiveIntegerField(
        default=0, help_text="The number of items that were sent and have not ended."
    )
    succeeded = models.PositiveIntegerField(default=0)
    failed_again = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    pace_since = models.DateTimeField(null=True, blank=True)
    pace_sent = models.PositiveIntegerField(default=0)
    recent = models.TextField(
        blank=True,
        default="",
        help_text="The latest results, oldest first: S for succeeded, F for failed.",
    )
    settled_to = models.BigIntegerField(default=0, help_text="The last item whose result was read.")
    busy = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "dlq_redrive"
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "created_at", "id"], name="redrive_list"),
            models.Index(fields=["id"], condition=Q(busy=True), name="redrive_busy"),
            models.Index(fields=["created_at"], condition=Q(state="DRAFT"), name="redrive_drafts"),
        ]

    def __str__(self) -> str:
        return f"redrive of {self.total} by {self.created_by_name}"


class RedriveItem(models.Model):
    """One entry of a redrive. While `active` is true, no other redrive can hold the entry."""

    id = models.BigAutoField(primary_key=True)
    redrive = models.ForeignKey(
        Redrive, on_delete=models.CASCADE, related_name="items", db_index=False
    )
    entry = models.ForeignKey(
        DeadLetterEntry,
        on_delete=models.CASCADE,
        related_name="redrive_items",
        db_constraint=False,
    )
    state = models.CharField(max_length=12, choices=ItemState.choices, default=ItemState.QUEUED)
    active = models.BooleanField(null=True, default=None)
    reason = models.CharField(max_length=2_000, blank=True, default="")
    run_id = models.UUIDField(null=True, blank=True)
    execution_id = models.UUIDField(null=True, blank=True)
    again = models.ForeignKey(
        DeadLetterEntry,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
        help_text="The new dead letter, if the step failed again.",
    )
    sent_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "dlq_redriveitem"
        constraints = [
            models.UniqueConstraint(fields=["redrive", "entry"], name="redrive_item_once"),
            models.UniqueConstraint(
                fields=["entry"], condition=Q(active=True), name="redrive_entry_held_once"
            ),
        ]
        indexes = [
            models.Index(fields=["redrive", "state", "id"], name="redrive_item_state"),
            models.Index(fields=["redrive", "id"], name="redrive_item_list"),
            # For deletions of dead letters: only few rows have this reference.
            models.Index(
                fields=["again"], condition=Q(again__isnull=False), name="redrive_item_again"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.entry_id}: {self.state}"
