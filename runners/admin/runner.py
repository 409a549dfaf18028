"""Worker processes and their last heartbeats, read-only."""

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from executions.access.powers import Power
from executions.admin import marks
from executions.admin.base import FactAdmin
from executions.admin.scope import holds, is_superuser, reach
from executions.admin.sections import Page, facts
from executions.admin.skin import display
from executions.language import lazy
from runners.models import Runner


@admin.register(Runner)
class RunnerAdmin(FactAdmin):
    """The admin of worker processes; each row shows what the worker last reported."""

    list_display = ("name", "health", "host", "pid", "pool", "queue_names", "started", "seen")
    ordering = ("-seen_at",)
    empty_text = lazy(
        "No worker has reported. Start a Celery worker, or run “make up” in a checkout of Valkyr."
    )
    search_texts = ("name", "host")

    def scope(self, request: HttpRequest, rows: Any, action: Power) -> Any:
        """Return the shared workers, and the remote runners of the user's workspaces.

        Superusers see all rows.
        """
        if is_superuser(request):
            return rows
        return rows.filter(Q(workspace=None) | Q(workspace__in=reach(request).workspaces(action)))

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user has the permission to view executions."""
        return holds(request, self.needs)

    @display(description=lazy("state"))
    def health(self, row: Runner) -> Any:
        """Return the badge of the worker's health: live, shutting down or not responding."""
        return health_of(row, timezone.now())

    @display(description=lazy("queues"))
    def queue_names(self, row: Runner) -> str:
        """Return the names of the worker's queues; a dash if it has none."""
        return ", ".join(map(str, row.queues)) or marks.EMPTY

    @display(description=lazy("started"))
    def started(self, row: Runner) -> Any:
        """Return how long ago the worker started."""
        return marks.ago(row.started_at)

    @display(description=lazy("last seen"))
    def seen(self, row: Runner) -> Any:
        """Return how long ago the worker sent its last heartbeat."""
        return marks.ago(row.seen_at)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a worker."""
        return Page(
            [health_of(obj, timezone.now())],
            facts(
                [
                    (gettext("Name"), obj.name),
                    (gettext("Host"), obj.host),
                    (gettext("Process"), str(obj.pid)),
                    (gettext("Pool"), obj.pool),
                    (gettext("Queues"), self.queue_names(obj)),
                    (gettext("Started"), marks.ago(obj.started_at)),
                    (gettext("Last seen"), marks.ago(obj.seen_at)),
                    (gettext("Shutdown started"), marks.ago(obj.leaving_at)),
                ]
            ),
        )


def health_of(row: Runner, now: datetime) -> Any:
    """Return the badge of the worker's health: shutting down, not responding or live."""
    if row.leaving_at is not None:
        return marks.mark(gettext("shutting down"), "logout", "grey")
    if not row.responds(now):
        return marks.mark(gettext("not responding"), "heart_broken", "red")
    return marks.mark(gettext("live"), "monitor_heart", "green")
