"""The archive over HTTP: its files, complete archived executions, and their restoration."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import Action, obtain, record, visible
from executions.public.api import (
    Body,
    CamelCase,
    CamelCaseSerializer,
    Endpoint,
    ListQuery,
    Payload,
    Text,
    WorkflowExecutionShape,
    operation,
    page,
)
from executions.public.errors import NotFound
from executions.public.models import WorkflowExecution
from runners.public.api import RunShape
from valkyr_plugins.archive import reading, restoring
from valkyr_plugins.archive.models import ArchiveFile, FileState

TAG = "Archive"


class ArchiveFileShape(CamelCase, serializers.ModelSerializer[ArchiveFile]):
    """A file of the archive."""

    workspace_id = serializers.UUIDField()
    name = serializers.CharField(help_text="The path relative to the archive's address.")
    state = serializers.ChoiceField(FileState.choices)
    error = serializers.CharField(
        help_text="Why the file could not be written or deleted; empty if it could."
    )

    class Meta:
        model = ArchiveFile
        fields = [
            "id", "workspace_id", "day", "part", "name", "state", "executions", "runs",
            "dead_letters", "size", "sha256", "created_at", "stored_at", "error",
        ]  # fmt: skip


class ArchiveQuery(ListQuery):
    """The filters of the list of files."""

    day = serializers.DateField(required=False)
    state = serializers.ChoiceField(FileState.choices, required=False)


class ArchivedLetterShape(CamelCaseSerializer):
    """A dead letter of an archived execution."""

    id = serializers.UUIDField()
    run_id = serializers.UUIDField()
    step_path = serializers.CharField()
    module = serializers.CharField()
    failure_type = serializers.CharField()
    failure_reason = serializers.CharField()
    attempts = serializers.IntegerField()
    resolution = serializers.CharField()
    quarantined_at = serializers.DateTimeField()
    resolved_at = serializers.DateTimeField(allow_null=True)
    original_inputs = Payload(allow_null=True)
    notes = serializers.CharField()


class ArchivedExecutionShape(CamelCaseSerializer):
    """An archived execution with its runs and dead letters."""

    execution = WorkflowExecutionShape()
    runs = RunShape(many=True)
    dead_letters = ArchivedLetterShape(many=True)


class Restoration(Body):
    """The reason for the restoration."""

    reason = Text(required=False, default="", allow_blank=True, max_length=2000)


class ArchiveFiles(Endpoint):
    """The endpoint that lists the files of the archive."""

    @operation(
        "listArchiveFiles",
        TAG,
        {200: ArchiveFileShape(many=True)},
        parameters=[ArchiveQuery],
    )
    def get(self, request: Request) -> Response:
        """List the files of your workspaces, newest first."""
        query = self.query(ArchiveQuery)
        rows = visible(self.user, ArchiveFile.objects.all())
        for name in ("day", "state"):
            if name in query:
                rows = rows.filter(**{name: query[name]})
        found = page(request, rows, query, order=("id",))
        return Response(ArchiveFileShape(found.rows, many=True).data, headers=found.headers)


class ArchivedExecutionView(Endpoint):
    """The endpoint that returns an archived execution."""

    @operation("getArchivedExecution", TAG, {200: ArchivedExecutionShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return an archived execution with its runs and dead letters; the access is audited."""
        found, may = reading.obtain(self.user, id, Action.VIEW)
        execution = found.execution
        record(
            self.actor,
            "archive.open",
            workspace_id=execution.workspace_id,
            object_type="WorkflowExecution",
            object_id=id,
        )
        shape = {"execution": execution, "runs": found.runs, "dead_letters": found.dead_letters}
        return Response(ArchivedExecutionShape(shape, context={"may": may}).data)


class RestoreExecution(Endpoint):
    """The endpoint that restores an archived execution."""

    @operation(
        "restoreWorkflowExecution",
        TAG,
        {200: WorkflowExecutionShape},
        request=Restoration,
        errors=[403, 404],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Restore an archived execution, with its runs, so that it can be replayed and forked.

        The execution keeps its ID and state; its copy stays in the archive. The next run of
        retention deletes the execution again, but not before its forks have ended. An execution
        that was not deleted is returned unchanged.
        """
        reason = self.body(Restoration)["reason"]
        try:
            made, may = obtain(self.user, WorkflowExecution.objects.all(), id, Action.OPERATE)
        except NotFound:
            may = reading.powers_of(self.user, id, Action.OPERATE)
            made = restoring.restore(id, actor=self.actor, reason=reason)
        return Response(WorkflowExecutionShape(made, context={"may": may}).data)
