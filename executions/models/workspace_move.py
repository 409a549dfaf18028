"""Moves of workspaces between cells: together they are the directory of moved workspaces."""

from django.db import models
from django.db.models import Q

from executions.database.clock import ClockTimestamp
from executions.database.ids import uuid7
from executions.states import MoveState


class WorkspaceMove(models.Model):
    """A move of a workspace from one cell to another; "" names the first database.

    The rows are in the first database. The newest switched move of a workspace names the
    workspace's cell. The transaction that switches a workspace to its target also writes the row
    there, in the state SWITCHED, as proof of the switch.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # Not a foreign key: the workspace's row is in another database.
    workspace_id = models.UUIDField(db_index=True)
    source = models.CharField(max_length=16, blank=True)
    target = models.CharField(max_length=16, blank=True)
    state = models.CharField(max_length=10, default=MoveState.COPYING.value)
    # The last ended execution that was copied, its time, and the number of copied executions.
    mark = models.UUIDField(null=True)
    mark_at = models.DateTimeField(null=True)
    copied = models.BigIntegerField(default=0)
    started_at = models.DateTimeField(db_default=ClockTimestamp(), editable=False)
    pause_ms = models.PositiveIntegerField(null=True)
    switched_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    in_first_database = True

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace_id"], condition=Q(ended_at=None), name="workspace_moves_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workspace_id}: {self.source or '-'} to {self.target or '-'}"
