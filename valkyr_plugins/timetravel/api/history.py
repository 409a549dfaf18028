"""Endpoints that roll an execution back, fork it, replay it and verify it."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

# ruff: noqa: N815 - the names are the JSON's
from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public import addresses
from executions.public.access import Action, Powers, check_change, obtain, require
from executions.public.api import (
    Body,
    CamelCaseSerializer,
    Endpoint,
    Flag,
    Json,
    JsonObject,
    Payload,
    Text,
    WorkflowExecutionShape,
    operation,
)
from executions.public.errors import NotFound
from executions.public.jobs import Job, JobFailed, JobState, wait
from executions.public.models import WorkflowExecution
from runners.public.api import VersionField
from runners.public.forks import with_stored_steps
from valkyr_plugins.timetravel import verification
from valkyr_plugins.timetravel.fork import Overrides, fork, replay
from valkyr_plugins.timetravel.fork_changes import change_of, origins
from valkyr_plugins.timetravel.rollback import roll_back

# The requests and responses of roll-backs, forks and replays as JSON.


MAX_STEPS = 100


class StepInputs(JsonObject):
    """A JSON object that maps step paths to objects of inputs."""

    default_error_messages = {
        "inputs": "Expected an object of inputs by step path, each an object.",
        "many": f"At most {MAX_STEPS} steps can be changed.",
    }

    def to_internal_value(self, data: Any) -> Any:
        """Return the inputs, keyed by step path.

        Raises ValidationError if a step's inputs are not an object, or for more than 100 steps.
        """
        if not isinstance(data, dict) or not all(isinstance(v, dict) for v in data.values()):
            self.fail("inputs")
        if len(data) > MAX_STEPS:
            self.fail("many")
        return data


class ForkOverrides(Body):
    """The changes of a fork, merged into the existing values (RFC 7396; variables can be null)."""

    input = Json(required=False, allow_null=True, help_text="The payload.")
    variables = JsonObject(required=False, help_text="Values of declared variables, by name.")
    steps = StepInputs(
        required=False, help_text="Inputs of the steps with which the fork begins, by path."
    )


class Rollback(Body):
    """The point of a roll-back: a checkpoint or a finished step."""

    checkpointId = serializers.UUIDField(required=False, allow_null=True)
    stepPath = Text(
        required=False,
        allow_null=True,
        max_length=1000,
        help_text="A finished step; later steps run again.",
    )
    reason = Text(required=False, default="", allow_blank=True, max_length=2000)


class Fork(Body):
    """The point, the version and the changes of a fork."""

    checkpointId = serializers.UUIDField(required=False, allow_null=True)
    stepPath = Text(
        required=False,
        allow_null=True,
        max_length=1000,
        help_text="The step from which the fork runs; it runs again.",
    )
    version = VersionField(required=False, default="pinned")
    overrides = ForkOverrides(required=False, allow_null=True)
    reason = Text(required=False, default="", allow_blank=True, max_length=2000)


class Replay(Body):
    """Whether to run again, or only to verify that the result is the same."""

    verify = Flag(required=False, default=False)
    reason = Text(required=False, default="", allow_blank=True, max_length=2000)


class DifferenceShape(CamelCaseSerializer):
    """One difference in a verification."""

    step_path = serializers.CharField(allow_blank=True)
    field = serializers.CharField()
    recorded = Payload(allow_null=True)
    replayed = Payload(allow_null=True)


class VerificationShape(CamelCaseSerializer):
    """The result of a verification, with at most 100 differences."""

    same = serializers.BooleanField()
    steps = serializers.IntegerField(help_text="The number of steps rendered again.")
    complete = serializers.BooleanField(help_text="False if there were too many to check all.")
    differences = DifferenceShape(many=True)


class VerificationJob(CamelCaseSerializer):
    """A verification that a worker computes."""

    id = serializers.UUIDField()
    executionId = serializers.UUIDField(source="subject")
    state = serializers.ChoiceField(choices=JobState.choices)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    error_code = serializers.CharField(allow_blank=True, help_text="Empty unless it failed.")
    error = serializers.CharField(allow_blank=True)
    result = VerificationShape(allow_null=True, help_text="Null unless it succeeded.")


REPLAYED = PolymorphicProxySerializer(
    component_name="ReplayAccepted",
    serializers=[WorkflowExecutionShape, VerificationJob],
    resource_type_field_name=None,
)


def _identities() -> QuerySet[WorkflowExecution]:
    return WorkflowExecution.objects.only("id", "workspace_id", "workflow_id")


def _accepted(execution: WorkflowExecution, may: Powers) -> Response:
    return Response(
        WorkflowExecutionShape(execution, context={"may": may}).data,
        202,
        headers={"Location": addresses.api("execution", execution.pk)},
    )


class RollbackExecution(Endpoint):
    """The endpoint that rolls an execution back."""

    @operation(
        "rollbackWorkflowExecution",
        "WorkflowExecution",
        {200: WorkflowExecutionShape},
        request=Rollback,
        errors=[403, 404, 409],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Roll back to a checkpoint, or to right after a finished step, and continue from there.

        The execution must be RUNNING, PAUSED or FAILED; fork other executions instead.
        """
        _, may = obtain(self.user, _identities(), id, Action.OPERATE)
        given = self.body(Rollback)
        checkpoint_id, step_path = given.get("checkpointId"), given.get("stepPath")
        if (checkpoint_id is None) == (step_path is None):
            raise ValidationError(
                {"checkpointId": "Give either checkpointId or stepPath."}, code="one_point"
            )
        execution = roll_back(
            id,
            checkpoint_id=checkpoint_id,
            step_path=step_path,
            actor=self.actor,
            reason=given["reason"],
            named=may.allows(Action.VIEW),
        )
        return Response(WorkflowExecutionShape(execution, context={"may": may}).data)


class ForkExecution(Endpoint):
    """The endpoint that forks an execution."""

    starts = True
    ready: Overrides | None = None  # the changes; large ones are stored

    def before_once(self, request: Request, id: UUID) -> None:  # noqa: A002
        """Store large changes of steps before the transaction of an idempotent request begins."""
        found, _, given = self._allowed(id)
        self.ready = with_stored_steps(found.workspace_id, _overrides(given.get("overrides") or {}))

    @operation(
        "forkWorkflowExecution",
        "WorkflowExecution",
        {202: WorkflowExecutionShape},
        request=Fork,
        errors=[403, 404, 409, 429],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Start a new execution from a checkpoint, or from right before a step, which runs again.

        Without either, it starts from the beginning. The original execution does not change.
        *Trigger* is enough to run the latest version with another input. You need *operate* to
        start from a step or a checkpoint, to use a version that is neither pinned nor the latest,
        or to change an older version's input. You need *author* to run a test version again, and
        *author*, or `redrive_with_overrides` and *operate*, to override variables and steps. If a
        step would run under an approval of the original execution, the fork starts right before
        that approval and requests it again.
        """
        _, may, given = self._allowed(id)
        checkpoint_id, step_path = given.get("checkpointId"), given.get("stepPath")
        if checkpoint_id is not None and step_path is not None:
            raise ValidationError(
                {"checkpointId": "Give checkpointId or stepPath, not both."}, code="one_point"
            )
        made = fork(
            id,
            checkpoint_id=checkpoint_id,
            step_path=step_path,
            version=given["version"],
            overrides=self.ready or _overrides(given.get("overrides") or {}),
            actor=self.actor,
            reason=given["reason"],
            named=may.allows(Action.VIEW),
        )
        return _accepted(made, may)

    def _allowed(self, pk: UUID) -> tuple[WorkflowExecution, Powers, dict[str, Any]]:
        """Return the origin, the caller's powers and the body, if the caller may start the fork."""
        found, may = obtain(self.user, origins(), pk, Action.TRIGGER)
        given = self.body(Fork)
        inside = given.get("checkpointId") is not None or bool(given.get("stepPath"))
        overrides = _overrides(given.get("overrides") or {})
        check_change(
            may, change_of(found, inside=inside, version=given["version"], overrides=overrides)
        )
        return found, may, given


class ReplayExecution(Endpoint):
    """The endpoint that replays an execution, or verifies it."""

    starts = True

    @operation(
        "replayWorkflowExecution",
        "WorkflowExecution",
        {202: REPLAYED, 200: VerificationShape},
        request=Replay,
        errors=[403, 404, 409, 429],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Start a new execution of the same version with the same input (202).

        With `verify`, no step runs: a worker evaluates the recorded steps again from recorded
        results, and the response lists the differences (200). If the worker needs over three
        seconds, if too many requests wait, or with an `Idempotency-Key`, the response is the
        verification (202): poll `Location` until its `state` is `SUCCESS` or `FAILED`.
        """
        found, may = obtain(self.user, origins(), id, Action.TRIGGER)
        given = self.body(Replay)
        if not given["verify"]:
            check_change(may, change_of(found))
            return _accepted(replay(id, actor=self.actor, reason=given["reason"]), may)
        if not may.allows(Action.VIEW):
            require(self.user, found.workspace_id, Action.VIEW)
        return _verified(wait(verification.request(id, self.actor.name)), may)


class OneVerification(Endpoint):
    """The endpoint that returns one verification."""

    @operation("getVerification", "WorkflowExecution", {200: VerificationJob}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return a verification of the last hour, with its result if it succeeded."""
        job = Job.objects.filter(pk=id, kind=verification.KIND).first()
        if job is None:
            raise NotFound(f"There is no verification {id} in your workspaces.")
        try:
            _, may = obtain(self.user, _identities(), job.subject, Action.VIEW)
        except NotFound:
            raise NotFound(f"There is no verification {id} in your workspaces.") from None
        return Response(VerificationJob(job, context={"may": may}).data)


def _verified(job: Job, may: Powers) -> Response:
    """Return a verification's result, or its URL if it has not ended. Raises JobFailed."""
    context = {"may": may}
    if job.state == JobState.SUCCESS:
        return Response(VerificationShape(job.result, context=context).data)
    if job.state == JobState.FAILED:
        raise JobFailed(job.error, job.error_code)
    where = {"Location": addresses.api("verification", job.pk), "Retry-After": "1"}
    return Response(VerificationJob(job, context=context).data, 202, headers=where)


def _overrides(given: dict[str, Any]) -> Overrides:
    return Overrides(
        input=given.get("input"),
        variables=given.get("variables") or {},
        steps=given.get("steps") or {},
    )
