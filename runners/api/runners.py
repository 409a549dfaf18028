"""Worker processes: shared workers, and the remote runners of each workspace."""

from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, User, reach_of
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import CamelCase
from executions.api.paging import PageQuery, page
from executions.errors import NotFound
from runners.models import Runner

# Worker processes as JSON.


class RunnerShape(CamelCase, serializers.ModelSerializer[Runner]):
    """A worker process, or a remote runner of a workspace."""

    workspace_id = serializers.UUIDField(
        allow_null=True,
        help_text="The workspace of a remote runner; null for a worker of all workspaces.",
    )
    queues = serializers.ListField(
        child=serializers.CharField(), help_text=("The queues whose runs it executes.")
    )
    started_at = serializers.DateTimeField()
    seen_at = serializers.DateTimeField(help_text="When the worker last reported.")
    leaving_at = serializers.DateTimeField(
        allow_null=True, help_text="The time at which the process announced its shutdown."
    )

    class Meta:
        model = Runner
        fields = [
            "id", "workspace_id", "name", "host", "pid", "pool", "queues", "started_at", "seen_at",
            "leaving_at",
        ]  # fmt: skip


class RunnerQuery(PageQuery):
    """The query parameters of `listRunners`."""

    pool = serializers.CharField(required=False, max_length=20, help_text="`remote`, for example.")


# IDs increase in the order in which the runners first reported.
BY_ID = ("id",)


def runners(user: User) -> QuerySet[Runner]:
    """Return the runners that the user may see; superusers need no role to see shared workers."""
    reach = reach_of(user)
    wanted = Q(workspace_id__in=reach.workspaces(Action.VIEW))
    if reach.anywhere(Action.VIEW) or getattr(user, "is_superuser", False):
        wanted |= Q(workspace=None)
    return Runner.objects.filter(wanted)


class Runners(Endpoint):
    """The list of runners that the user may see."""

    @operation("listRunners", "Runner", {200: RunnerShape(many=True)}, parameters=[RunnerQuery])
    def get(self, request: Request) -> Response:
        """List the shared workers and the remote runners of your workspaces, newest first."""
        query = self.query(RunnerQuery)
        rows = runners(self.user)
        if "pool" in query:
            rows = rows.filter(pool=query["pool"])
        found = page(request, rows, query, order=BY_ID)
        return Response(RunnerShape(found.rows, many=True).data, headers=found.headers)


class OneRunner(Endpoint):
    """The endpoint that returns a worker process or a remote runner."""

    @operation("getRunner", "Runner", {200: RunnerShape}, errors=[404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one worker process or remote runner, with its last heartbeat."""
        runner = runners(self.user).filter(pk=id).first()
        if runner is None:
            raise NotFound(f"There is no runner {id} in your workspaces.")
        return Response(RunnerShape(runner).data)
