"""The same execution is requested several times concurrently."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

from django.db import connection

from executions.models import Workflow, WorkflowExecution
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.outages import marks_of
from tests.support.workflows import effect, publish, start, wait_for_end

ASKERS = 8


def test_one_idempotency_key_given_many_times_at_once_runs_once(fleet: Fleet) -> None:
    workflow = publish({"tasks": [effect("work")]})
    together = Barrier(ASKERS)

    def ask(_: int) -> UUID:
        try:
            return _start_together(workflow, together)
        finally:
            connection.close()

    with ThreadPoolExecutor(ASKERS) as askers:
        answers = list(askers.map(ask, range(ASKERS)))
    assert len(set(answers)) == 1
    [execution] = set(answers)
    assert wait_for_end([execution])[execution] == "SUCCESS"
    assert WorkflowExecution.objects.filter(workflow=workflow).count() == 1
    assert len(marks_of(execution, "work.main")) == 1
    audit([execution])


def _start_together(workflow: Workflow, together: Barrier) -> UUID:
    connection.ensure_connection()
    together.wait(20)
    return start(workflow, {"order": 7}, idempotency_key="order-7")
