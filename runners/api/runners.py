"""Worker processes: our own are seen by who sees any work, remote ones by their workspace."""

from uuid import UUID

from django.db.models import Q, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, User, reach_of
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import page
from executions.errors import NotFound
from runners.api.runner_shapes import RunnerQuery, RunnerShape
from runners.models import Runner

# Ids are made in the order in which runners first reported.
BY_ID = ("id",)


def runners(user: User) -> QuerySet[Runner]:
    """The runners that the caller may see; superusers need no workspace for it."""
    reach = reach_of(user)
    wanted = Q(workspace_id__in=reach.workspaces(Action.VIEW))
    if reach.anywhere(Action.VIEW) or getattr(user, "is_superuser", False):
        wanted |= Q(workspace=None)
    return Runner.objects.filter(wanted)


class Runners(Endpoint):
    """All runners."""

    @operation("listRunners", "Runner", {200: RunnerShape(many=True)}, parameters=[RunnerQuery])
    def get(self, request: Request) -> Response:
        """The workers that serve you, newest first: shared ones, and your remote runners."""
        query = self.query(RunnerQuery)
        rows = runners(self.user)
        if "pool" in query:
            rows = rows.filter(pool=query["pool"])
        found = page(request, rows, query, order=BY_ID)
        return Response(RunnerShape(found.rows, many=True).data, headers=found.headers)


class OneRunner(Endpoint):
    """One runner."""

    @operation("getRunner", "Runner", {200: RunnerShape}, errors=[404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One worker and its last sign of life."""
        runner = runners(self.user).filter(pk=id).first()
        if runner is None:
            raise NotFound(f"There is no runner {id} that serves you.")
        return Response(RunnerShape(runner).data)
