"""Compare the executions of a backtest in a worker, one batch at a time.

A worker holds a backtest for a few seconds, then passes it to the next worker. So a backtest does
not delay a process's steps for long. After a crash, another worker continues after the last stored
batch.
"""

import logging
from collections import Counter
from time import monotonic
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.db.models import Q

from executions.public.database import database_now
from executions.public.errors import ValkyrError
from executions.public.graphs import Compiled, compiled_from
from executions.public.models import WorkflowExecution
from executions.public.payload_store import PayloadStoreUnavailable
from valkyr_plugins.backtest import lifecycle
from valkyr_plugins.backtest.groups import Summary
from valkyr_plugins.backtest.models import Backtest, BacktestResult
from valkyr_plugins.backtest.records import BATCH, load, selected
from valkyr_plugins.backtest.simulate import backtest as compare
from valkyr_plugins.backtest.verdicts import BacktestVerdict, StepVerdict

log = logging.getLogger(__name__)

TURN_SECONDS = 5.0
MAX_SHOWN = 100  # maximum steps shown per execution
RESENT = 100  # maximum backtests that one pass sends again


def work(backtest_id: UUID) -> bool:
    """Compare executions for a few seconds; return whether the backtest continues."""
    backtest = lifecycle.claim(backtest_id)
    if backtest is None:
        return False
    try:
        goes_on = _turn(backtest)
    except (OperationalError, InterfaceError, PayloadStoreUnavailable):
        raise  # the cause is outside; another worker continues when the lease has expired
    except ValkyrError as error:
        lifecycle.finish(backtest, error.message)
        return False
    except Exception as error:
        log.exception("backtest %s stopped", backtest_id)
        lifecycle.finish(backtest, f"An unexpected error stopped it: {type(error).__name__}.")
        return False
    if goes_on:
        lifecycle.release(backtest)
        lifecycle.request_work(backtest_id)
    return goes_on


def resend() -> int:
    """Send up to 100 unfinished backtests that no worker holds; return their number."""
    free = Q(leased_until=None) | Q(leased_until__lte=database_now())
    rows = Backtest.objects.filter(free, finished_at=None).order_by("id")
    found = list(rows.values_list("pk", flat=True)[:RESENT])
    for pk in found:
        lifecycle.request_work(pk)
    return len(found)


def _turn(backtest: Backtest) -> bool:
    until = monotonic() + TURN_SECONDS
    if backtest.total is None and not lifecycle.set_total(
        backtest, selected(backtest).values("pk")[: backtest.most].count()
    ):
        return False
    version = compiled_from(backtest.definition, backtest.pk, backtest.workflow)
    summary = Summary.read(backtest.counts, backtest.by_step, backtest.groups or {})
    while backtest.done < backtest.most:
        found = _next(backtest)
        if not found:
            break
        results = _compared(backtest, version, summary, found)
        if not lifecycle.advance(backtest, found[-1], results, summary):
            return False  # the backtest was cancelled, or another worker has it
        if monotonic() > until:
            return True
    lifecycle.finish(backtest)
    return False


def _next(backtest: Backtest) -> list[WorkflowExecution]:
    most = min(BATCH, backtest.most - backtest.done)
    return list(selected(backtest).defer("error_stack_trace")[:most])


def _compared(
    backtest: Backtest, version: Compiled, summary: Summary, found: list[WorkflowExecution]
) -> list[BacktestResult]:
    made = []
    for record in load(found):
        verdicts = compare(record, version)
        whole = summary.add(record.execution.pk, verdicts)
        made.append(_result(backtest, record.execution.pk, whole, verdicts))
    return made


def _result(
    backtest: Backtest, execution_id: UUID, whole: BacktestVerdict, verdicts: list[StepVerdict]
) -> BacktestResult:
    counts = Counter(one.verdict for one in verdicts if one.path)
    others = [one.as_json() for one in verdicts if one.verdict is not BacktestVerdict.SAME]
    return BacktestResult(
        backtest=backtest,
        execution_id=execution_id,
        verdict=str(whole),
        same=counts[BacktestVerdict.SAME],
        steps=others[:MAX_SHOWN] or None,
    )
