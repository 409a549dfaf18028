"""Endpoints that start, list, return and cancel backtests, and list their results."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public import addresses
from executions.public.access import Action, Powers, obtain
from executions.public.api import Endpoint, operation, page
from executions.public.models import Workflow
from valkyr_plugins.backtest import operations
from valkyr_plugins.backtest.models import Backtest, BacktestResult
from valkyr_plugins.backtest.shapes import (
    BacktestQuery,
    BacktestReason,
    BacktestResultShape,
    BacktestShape,
    BacktestSummaryShape,
    NewBacktest,
    ResultsQuery,
)

TAG = "Backtest"


def _workflows() -> QuerySet[Workflow]:
    return Workflow.objects.filter(archived_at=None)


def backtests() -> QuerySet[Backtest]:
    """Return all backtests, without the definitions."""
    return Backtest.objects.defer("definition")


def _shown(row: Backtest, may: Powers, status: int = 200) -> Response:
    headers = {"Location": addresses.api("backtest", row.pk)} if status > 200 else {}
    return Response(BacktestShape(row, context={"may": may}).data, status, headers=headers)


class StartBacktest(Endpoint):
    """The endpoint that starts a backtest."""

    @operation(
        "backtestWorkflow",
        TAG,
        {202: BacktestShape},
        request=NewBacktest,
        errors=[403, 404, 409, 429],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Compare the draft, or another definition, with the records of past executions.

        Pure steps are computed again. Any other step keeps its recorded result if its inputs and
        credential equal the recorded ones; otherwise it is reported as a call that would be made or
        as not comparable. No step with an effect runs, and no execution is started or changed. A
        worker makes the comparison: poll `Location` for the result.
        """
        given = self.body(NewBacktest)
        _, may = obtain(self.user, _workflows(), id, Action.AUTHOR)
        made, _ = self.perform(operations.START, _workflows(), id, given)
        return _shown(backtests().get(pk=made.pk), may, 202)


class WorkflowBacktests(Endpoint):
    """The endpoint that lists the backtests of a workflow."""

    @operation(
        "listBacktests",
        TAG,
        {200: BacktestSummaryShape(many=True)},
        errors=[403, 404],
        parameters=[BacktestQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """List the backtests of a workflow, newest first."""
        obtain(self.user, _workflows().defer("definition"), id, Action.VIEW)
        rows = backtests().defer("definition", "groups", "by_step").filter(workflow_id=id)
        found = page(request, rows, self.query(BacktestQuery))
        return Response(BacktestSummaryShape(found.rows, many=True).data, headers=found.headers)


class OneBacktest(Endpoint):
    """The endpoint that returns one backtest."""

    @operation("getBacktest", TAG, {200: BacktestShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return a backtest: its progress, its groups, and the counts of each step's verdicts."""
        return _shown(*obtain(self.user, backtests(), id, Action.VIEW))


class BacktestResults(Endpoint):
    """The endpoint that lists the results of a backtest."""

    @operation(
        "listBacktestResults",
        TAG,
        {200: BacktestResultShape(many=True)},
        errors=[403, 404],
        parameters=[ResultsQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """List the executions with their verdicts, the newest execution first."""
        query: dict[str, Any] = self.query(ResultsQuery)
        rows = backtests().defer("definition", "groups", "by_step")
        backtest, may = obtain(self.user, rows, id, Action.VIEW)
        found_in = BacktestResult.objects.filter(backtest=backtest)
        if "verdict" in query:
            found_in = found_in.filter(verdict=query["verdict"])
        found = page(request, found_in, query, order=("id",), ascending=True)
        shape = BacktestResultShape(found.rows, many=True, context={"may": may})
        return Response(shape.data, headers=found.headers)


class CancelBacktest(Endpoint):
    """The endpoint that cancels a backtest."""

    @operation(
        "cancelBacktest", TAG, {200: BacktestShape}, request=BacktestReason, errors=[403, 404, 409]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Cancel a backtest; its results so far are kept."""
        data = self.body(BacktestReason)
        _, may = obtain(self.user, backtests(), id, operations.CANCEL.needs)
        row, _ = self.perform(operations.CANCEL, backtests(), id, data)
        return _shown(row, may)
