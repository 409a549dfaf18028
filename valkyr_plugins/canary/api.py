"""Canary versions and rollbacks over HTTP, under their workflow."""

from uuid import UUID

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import Action, Operation, obtain
from executions.public.api import Body, Endpoint, operation, page
from executions.public.errors import NotFound
from executions.public.models import Workflow
from valkyr_plugins.canary import lifecycle, operations
from valkyr_plugins.canary.models import Canary, Treatment, VersionRollback
from valkyr_plugins.canary.shapes import (
    CanaryChange,
    CanaryDetail,
    CanaryQuery,
    CanaryReason,
    CanaryShape,
    NewCanary,
    NewRollback,
    RollbackShape,
    values,
)

TAG = "Workflow"


def _workflows() -> QuerySet[Workflow]:
    return Workflow.objects.filter(archived_at=None).defer("definition")


def canaries() -> QuerySet[Canary]:
    """Return all canaries, each with its version and the version with which it was compared."""
    return Canary.objects.select_related("version", "latest").defer(*lifecycle.TEXTS)


def rollbacks() -> QuerySet[VersionRollback]:
    """Return all rollbacks, each with the withdrawn version and the good version."""
    rows = VersionRollback.objects.select_related("bad", "good")
    return rows.defer("bad__source", "bad__definition", "good__source", "good__definition")


def _shown(canary_id: UUID, status: int = 200) -> Response:
    return Response(CanaryDetail(canaries().get(pk=canary_id)).data, status)


class _RunningCanary(Endpoint):
    """The base class of the endpoints with which users change a workflow's running canary."""

    def _apply(self, change: Operation, workflow_id: UUID, form: type[Body]) -> Response:
        obtain(self.user, _workflows(), workflow_id, change.needs)
        data = values(self.body(form))
        if form is CanaryChange and not set(data) - {"reason"}:
            raise ValidationError("Name at least one field to change.", code="required")
        canary = lifecycle.running(workflow_id)
        change.apply(canary.pk, self.actor, data)
        return _shown(canary.pk)


class WorkflowCanary(_RunningCanary):
    """The endpoint that returns a workflow's canary, publishes one, and changes it."""

    @operation("getCanary", TAG, {200: CanaryDetail}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return the workflow's newest canary, with the figures of both versions side by side.

        Returns 404 if the workflow never had a canary version.
        """
        obtain(self.user, _workflows(), id, Action.VIEW)
        found = canaries().filter(workflow_id=id).order_by("-created_at").first()
        if found is None:
            raise NotFound(f"Workflow {id} had no canary yet. Publish a version with a share.")
        return Response(CanaryDetail(found).data)

    @operation(
        "publishCanary",
        TAG,
        {201: CanaryDetail},
        request=NewCanary,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Publish the draft or an earlier version for a share of new executions.

        The others use the latest version. Executions with the same concurrency (or else
        idempotency) key use the same version. The latest version's triggers stay in effect until
        the canary is promoted. Without `stop`, the default rule applies. An earlier canary ends.
        """
        obtain(self.user, _workflows(), id, operations.BEGIN.needs)
        data = values(self.body(NewCanary))
        made, _ = self.perform(operations.BEGIN, _workflows(), id, data)
        return _shown(made.pk, 201)

    @operation(
        "changeCanary", TAG, {200: CanaryDetail}, request=CanaryChange, errors=[403, 404, 409]
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Change the share, the stop rule or the promotion time of the running canary.

        A concurrency or idempotency key that selects the canary still does at a larger share.
        """
        return self._apply(operations.CHANGE, id, CanaryChange)


class PromoteCanary(_RunningCanary):
    """The endpoint that promotes a canary."""

    @operation(
        "promoteCanary", TAG, {200: CanaryDetail}, request=CanaryReason, errors=[403, 404, 409]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Make the running canary the latest version; its triggers take effect."""
        return self._apply(operations.PROMOTE, id, CanaryReason)


class StopCanary(_RunningCanary):
    """The endpoint that stops a canary."""

    urgent = True

    @operation("stopCanary", TAG, {200: CanaryDetail}, request=CanaryReason, errors=[403, 404, 409])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Stop the canary: all new executions use the latest version again.

        Executions on the canary version continue. To find them, list executions with `version`; to
        cancel or fork them, roll back that version.
        """
        return self._apply(operations.STOP, id, CanaryReason)


class WorkflowCanaries(Endpoint):
    """The endpoint that lists all canaries of a workflow."""

    @operation(
        "listCanaries",
        TAG,
        {200: CanaryShape(many=True)},
        errors=[403, 404],
        parameters=[CanaryQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """List the canaries of a workflow, newest first."""
        obtain(self.user, _workflows(), id, Action.VIEW)
        found = page(request, canaries().filter(workflow_id=id), self.query(CanaryQuery))
        return Response(CanaryShape(found.rows, many=True).data, headers=found.headers)


class WorkflowRollbacks(Endpoint):
    """The endpoint that lists a workflow's rollbacks, and withdraws a publication."""

    urgent = True

    @operation(
        "listRollbacks",
        TAG,
        {200: RollbackShape(many=True)},
        errors=[403, 404],
        parameters=[CanaryQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """List the rollbacks of a workflow, newest first."""
        obtain(self.user, _workflows(), id, Action.VIEW)
        found = page(request, rollbacks().filter(workflow_id=id), self.query(CanaryQuery))
        return Response(RollbackShape(found.rows, many=True).data, headers=found.headers)

    @operation(
        "rollBackWorkflow",
        TAG,
        {201: RollbackShape},
        request=NewRollback,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Withdraw a version: by default the running canary or, without one, the latest version.

        New executions and triggers use the previous version again; the draft stays. In the
        background, executions that started on the withdrawn version are left alone, cancelled, or
        forked onto `goodVersion`. The counts in the response grow until `finishedAt` is set.
        Cancelling and forking also need *operate*.
        """
        obtain(self.user, _workflows(), id, operations.ROLL_BACK.needs)
        given = self.body(NewRollback)
        if given["executions"] != Treatment.LEAVE:
            obtain(self.user, _workflows(), id, Action.OPERATE)
        made, _ = self.perform(operations.ROLL_BACK, _workflows(), id, given)
        return Response(RollbackShape(rollbacks().get(pk=made.pk)).data, 201)
