"""Perform one operation on many objects, each in its own transaction; failures are independent."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Model, QuerySet
from rest_framework import serializers
from rest_framework.response import Response

from executions.access import Action, User, visible
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.access.powers import Power
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Id, Text
from executions.errors import ValkyrError
from executions.lifecycle import CANCEL, PAUSE, RESUME
from executions.models import WorkflowExecution
from executions.states import Permission

MAX_IDS = 1_000
# A request with more IDs needs the permission `bulk`, because bulk changes are hard to undo.
FREE_IDS = 20


class Many(Body):
    """The body of an operation on many objects: their IDs."""

    ids = serializers.ListField(
        child=Id(),
        min_length=1,
        max_length=MAX_IDS,
        help_text=f"More than {FREE_IDS} ids need the permission bulk.",
    )


class ManyWithReason(Many):
    """The body of an operation on many objects: their IDs, and a reason for the audit trail."""

    reason = Text(required=False, default="", allow_blank=True, max_length=2000)


class RefusedItem(CamelCaseSerializer):
    """The ID of an object whose change was rejected, and the reason."""

    id = serializers.UUIDField()
    code = serializers.CharField(help_text="The same code as in the response to a single request.")
    message = serializers.CharField()


class ManyDone(CamelCaseSerializer):
    """The changed objects' IDs, and the rejected objects; each list is in the request's order."""

    done = serializers.ListField(child=serializers.UUIDField())
    refused = RefusedItem(many=True)


def each(
    user: User,
    rows: QuerySet[Any],
    operation: Operation,
    actor: Actor,
    given: Mapping[str, Any],
) -> Response:
    """Perform the operation on each of `given["ids"]`; the response lists changed and rejected IDs.

    `given` is a body of the form `Many`, with the operation's data. A repeated ID is processed
    once.
    """
    wanted = list(dict.fromkeys(given["ids"]))
    refusals = _forbidden(user, rows.filter(pk__in=wanted).order_by(), wanted, operation.needs)
    done: list[UUID] = []
    for pk in wanted:
        if pk in refusals:
            continue
        try:
            operation.apply(pk, actor, given)
        except ValkyrError as error:
            refusals[pk] = (error.code, error.message)
        except DatabaseError:
            refusals[pk] = ("database_refused", "The database rejected the operation; try again.")
        else:
            done.append(pk)
    refused = [
        {"id": pk, "code": refusals[pk][0], "message": refusals[pk][1]}
        for pk in wanted
        if pk in refusals
    ]
    return Response(ManyDone({"done": done, "refused": refused}).data)


def _forbidden(
    user: User, rows: QuerySet[Model], wanted: list[UUID], power: Power
) -> dict[UUID, tuple[str, str]]:
    """Return the code and message for each object that the user may not change, keyed by ID.

    Uses a constant number of queries.
    """
    needed: list[Power] = [power]
    if len(wanted) > FREE_IDS:
        needed.append(Permission.BULK)
    allowed = [(need, _ids(visible(user, rows, need))) for need in needed]
    if all(len(found) == len(wanted) for _, found in allowed):
        return {}
    known = _ids(visible(user, rows, Action.VIEW)) | _ids(visible(user, rows, Action.TRIGGER))
    out: dict[UUID, tuple[str, str]] = {}
    for pk in wanted:
        lacking = next((need.value for need, found in allowed if pk not in found), None)
        if lacking is not None and pk in known:
            out[pk] = (
                "forbidden",
                (f"This needs {lacking} in this workspace. Ask an administrator."),
            )
        elif lacking is not None:
            out[pk] = ("not_found", f"Your workspaces do not contain {pk}.")
    return out


def _ids(rows: QuerySet[Any]) -> set[UUID]:
    return set(rows.values_list("pk", flat=True))


class MoveMany(Endpoint):
    """The base of endpoints that change the state of many executions."""

    move: Operation
    urgent = True

    def _moved(self) -> Response:
        given = self.body(ManyWithReason)
        return each(self.user, WorkflowExecution.objects.all(), self.move, self.actor, given)


def _described(name: str) -> Callable[[Any], Any]:
    return operation(
        f"{name}WorkflowExecutions", "WorkflowExecution", {200: ManyDone}, request=ManyWithReason
    )


class CancelMany(MoveMany):
    """The endpoint that cancels many executions."""

    move = CANCEL

    @_described("cancel")
    def post(self, request: Any) -> Response:
        """Cancel each execution.

        An execution that has ended or is being undone is rejected; the others are cancelled.
        """
        return self._moved()


class PauseMany(MoveMany):
    """The endpoint that pauses many executions."""

    move = PAUSE

    @_described("pause")
    def post(self, request: Any) -> Response:
        """Pause each execution: no new step starts; running steps finish and are recorded."""
        return self._moved()


class ResumeMany(MoveMany):
    """The endpoint that resumes many executions."""

    move = RESUME

    @_described("resume")
    def post(self, request: Any) -> Response:
        """Resume each paused execution from where it stopped."""
        return self._moved()
