"""The door of remote runners: lease, heartbeat, complete, fail."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import Action, Powers, obtain, workspace_for, workspaces_of
from executions.public.api import Endpoint, operation
from executions.public.configuration import limits
from executions.public.definitions import DefinitionProblem
from runners.public.api import RunShape
from runners.public.leased_runs import traceparents
from runners.public.models import Run
from runners.public.modules import ErrorType
from valkyr_plugins.remote import finishing, heartbeats, leasing, polling, registration
from valkyr_plugins.remote.errors import NotRemote
from valkyr_plugins.remote.shapes import (
    Completion,
    FailureReport,
    Heartbeat,
    LeasedRun,
    LeaseRequest,
    Renewed,
)


class LeaseRun(Endpoint):
    """Work for remote runners."""

    @operation("leaseRun", "Run", {200: LeasedRun(many=True)}, request=LeaseRequest, errors=[403])
    def post(self, request: Request) -> Response:
        """Take runs of remote queues, the oldest of the highest priority first; maybe none.

        Each is held until its `leaseUntil`: say before then that you are at work, and at the latest
        `timeoutSeconds` from now what came of it. 422 (`not_remote`) for other queues.
        """
        given = self.body(LeaseRequest)
        queues: list[str] = given["queues"]
        _all_remote(queues)
        workspaces = workspaces_of(self.user, Action.RUN)
        if not workspaces:
            workspace_for(self.user, None, Action.RUN)  # says what would be needed
        host = request.META.get("REMOTE_ADDR") or ""
        runner: str = given["runnerId"]

        def look() -> list[leasing.Leased]:
            registration.note(runner, workspaces, queues, host)
            return leasing.lease(runner, workspaces, queues, given["limit"], actor=self.actor)

        found = polling.poll(look, given["waitSeconds"], self.gone)
        runs = [leased.run for leased in found]
        parents = traceparents(runs) if traceparents.provided else {}
        shown = [_shown(leased, parents.get(leased.run.pk)) for leased in found]
        return Response(LeasedRun(shown, many=True).data)


class HeartbeatRun(Endpoint):
    """A run that is being worked."""

    @operation(
        "updateRunHeartbeat", "Run", {200: Renewed}, request=Heartbeat, errors=[403, 404, 409]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Renew the lease; the first one begins the run.

        `wanted` is false once nobody waits for the result: stop then, there is nothing to report.
        409 (`lease_lost`) when the lease is over or somebody else's.
        """
        run, _ = _held(self, id)
        given = self.body(Heartbeat)
        beat = heartbeats.beat(run, given["leaseToken"], given["details"])
        return Response(Renewed(beat).data)


class CompleteRun(Endpoint):
    """A run that is done."""

    @operation("completeRun", "Run", {200: RunShape}, request=Completion, errors=[403, 404, 409])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Record the result, and go on with what follows.

        The same result once more, under the same lease, is answered alike. 409 (`lease_lost`) when
        the lease is over; 422 for outputs that cannot be stored or an outcome the step does not
        declare, and the lease is still yours then.
        """
        _, may = _held(self, id)
        given = self.body(Completion)
        reported = finishing.Reported(given["outputs"], given["outcome"], given["costTokens"])
        finishing.complete(id, given["leaseToken"], reported)
        return _answer(id, may)


class FailRun(Endpoint):
    """A run that failed."""

    @operation("failRun", "Run", {200: RunShape}, request=FailureReport, errors=[403, 404, 409])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Record the failure: it is tried again, goes along an error edge, or is a dead letter.

        The same failure once more, under the same lease, is answered alike. 409 (`lease_lost`) when
        the lease is over.
        """
        _, may = _held(self, id)
        given = self.body(FailureReport)
        finishing.fail(
            id,
            given["leaseToken"],
            given["error"],
            ErrorType(given["errorType"]),
            given["retryAfter"],
            given["fingerprint"],
        )
        return _answer(id, may)


def _all_remote(queues: Sequence[str]) -> None:
    problems = [
        DefinitionProblem(
            f"queues[{place}]", "not_remote", f"{name!r} is no queue of VALKYR_REMOTE_QUEUES."
        )
        for place, name in enumerate(queues)
        if name not in limits().remote_queues
    ]
    if problems:
        raise NotRemote(problems)


def _held(endpoint: Endpoint, run_id: UUID) -> tuple[Run, Powers]:
    rows = Run.objects.select_related("execution").only(
        "id", "state", "lease_token", "execution__workspace_id", "execution__workflow_id"
    )
    return obtain(endpoint.user, rows, run_id, Action.RUN)


def _shown(leased: leasing.Leased, traceparent: str | None) -> Run:
    run: Any = leased.run
    run.traceparent = traceparent
    run.inputs, run.credential = leased.inputs, leased.credential
    run.leaseToken, run.timeoutSeconds = leased.token, leased.timeout_seconds
    return leased.run


def _answer(run_id: UUID, may: Powers) -> Response:
    return Response(RunShape(Run.objects.get(pk=run_id), context={"may": may}).data)
