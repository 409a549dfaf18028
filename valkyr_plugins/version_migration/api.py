"""Endpoints that create, preview, start and follow migrations of executions."""

from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public import addresses
from executions.public.access import Action, Operation, obtain, visible
from executions.public.api import Endpoint, narrowed, operation, page
from executions.public.models import Workflow
from valkyr_plugins.version_migration import operations
from valkyr_plugins.version_migration.models import ExecutionMigration, MigratedExecution
from valkyr_plugins.version_migration.plan import live_versions
from valkyr_plugins.version_migration.preview import preview
from valkyr_plugins.version_migration.shapes import (
    LiveVersionShape,
    MigratedQuery,
    MigratedShape,
    MigrationPreviewShape,
    MigrationQuery,
    MigrationReason,
    MigrationShape,
    NewMigration,
    plan_of,
)

TAG = "ExecutionMigration"
FILTERS = {"state": "state", "workflowId": "workflow_id"}


def migrations() -> QuerySet[ExecutionMigration]:
    """Return all migrations, with their source and target versions."""
    rows = ExecutionMigration.objects.select_related("source", "target")
    return rows.defer(*(one for one in operations.TEXTS if not one.startswith("workflow")))


def _workflows() -> QuerySet[Workflow]:
    return Workflow.objects.filter(archived_at=None).defer("definition")


def _shown(pk: UUID, status: int = 200) -> Response:
    headers = {"Location": addresses.api("migration", pk)} if status > 200 else {}
    return Response(MigrationShape(migrations().get(pk=pk)).data, status, headers=headers)


class LiveVersions(Endpoint):
    """The endpoint that counts a workflow's live executions by version."""

    @operation(
        "listLiveVersions", "Workflow", {200: LiveVersionShape(many=True)}, errors=[403, 404]
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Count the live executions of each published version that has any, the newest first.

        The list is empty if counting takes too long.
        """
        found, _ = obtain(self.user, _workflows(), id, Action.VIEW)
        rows = [{"version": number, "executions": live} for number, live in live_versions(found)]
        return Response(LiveVersionShape(rows, many=True).data)


class Migrations(Endpoint):
    """The endpoint that lists and creates migrations."""

    @operation(
        "listExecutionMigrations",
        TAG,
        {200: MigrationShape(many=True)},
        parameters=[MigrationQuery],
    )
    def get(self, request: Request) -> Response:
        """List the migrations of your workspaces, newest first."""
        query = self.query(MigrationQuery)
        rows = narrowed(visible(self.user, migrations()), query, FILTERS)
        found = page(request, rows, query)
        return Response(MigrationShape(found.rows, many=True).data, headers=found.headers)

    @operation(
        "createExecutionMigration",
        TAG,
        {201: MigrationShape},
        request=NewMigration,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create a draft migration of a version's live executions, or only of those in `ids`.

        Nothing moves until you start the migration: preview it first. A draft that is not started
        is deleted after a day. You need *author* and *operate* on the workflow.
        """
        given = self.body(NewMigration)
        obtain(self.user, _workflows(), given["workflowId"], Action.OPERATE)
        rows = _workflows()
        made, _ = self.perform(operations.MAKE, rows, given["workflowId"], plan_of(given))
        return _shown(made.pk, 201)


class OneMigration(Endpoint):
    """The endpoint that returns one migration."""

    @operation("getExecutionMigration", TAG, {200: MigrationShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one migration and its progress."""
        found, _ = obtain(self.user, migrations(), id, Action.VIEW)
        return Response(MigrationShape(found).data)


class PreviewMigration(Endpoint):
    """The endpoint that previews a migration."""

    @operation(
        "previewExecutionMigration",
        TAG,
        {200: MigrationPreviewShape},
        request=MigrationReason,
        errors=[403, 404],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Preview a migration: which executions would move, to which steps, and why others cannot.

        The preview reads the current state and changes nothing. It does not check inputs against
        the new version's input schema; the move does.
        """
        self.body(MigrationReason)
        found, _ = obtain(self.user, migrations(), id, Action.VIEW)
        return Response(MigrationPreviewShape(preview(found)).data)


class MigratedExecutions(Endpoint):
    """The endpoint that lists a migration's executions."""

    @operation(
        "listMigratedExecutions",
        TAG,
        {200: MigratedShape(many=True)},
        errors=[403, 404],
        parameters=[MigratedQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """List the executions of a migration, with the reasons why some were not moved."""
        query = self.query(MigratedQuery)
        obtain(self.user, migrations(), id, Action.VIEW)
        rows = MigratedExecution.objects.filter(migration_id=id)
        if "state" in query:
            rows = rows.filter(state=query["state"])
        found = page(request, rows, query, order=("execution_id",), ascending=True)
        return Response(MigratedShape(found.rows, many=True).data, headers=found.headers)


class _MigrationMove(Endpoint):
    """The base class of the endpoints with which users change a migration's state."""

    change: Operation

    def _apply(self, id: UUID) -> Response:  # noqa: A002
        given = self.body(MigrationReason)
        self.perform(self.change, migrations(), id, given)
        return _shown(id)


class StartMigration(_MigrationMove):
    """The endpoint that starts a migration."""

    change = operations.START

    @operation(
        "startExecutionMigration",
        TAG,
        {200: MigrationShape},
        request=MigrationReason,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Start a migration: move its executions at the set rate, and pause after the canaries."""
        return self._apply(id)


class PauseMigration(_MigrationMove):
    """The endpoint that pauses a migration."""

    urgent = True
    change = operations.PAUSE

    @operation(
        "pauseExecutionMigration",
        TAG,
        {200: MigrationShape},
        request=MigrationReason,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Pause a migration: no further executions are moved until you resume it."""
        return self._apply(id)


class ResumeMigration(_MigrationMove):
    """The endpoint that resumes a migration."""

    change = operations.RESUME

    @operation(
        "resumeExecutionMigration",
        TAG,
        {200: MigrationShape},
        request=MigrationReason,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Resume a migration after a pause, or after its canaries."""
        return self._apply(id)


class CancelMigration(_MigrationMove):
    """The endpoint that cancels a migration."""

    urgent = True
    change = operations.CANCEL

    @operation(
        "cancelExecutionMigration",
        TAG,
        {200: MigrationShape},
        request=MigrationReason,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Cancel a migration; executions that were moved remain on their new version."""
        return self._apply(id)
