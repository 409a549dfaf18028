"""A missing collector causes few log lines, and no execution waits for it."""

from pathlib import Path

from executions.models import WorkflowExecution
from tests.support.fleet import QUICK, Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start, wait_for_end
from valkyr_project.embedded import Redis
from valkyr_project.embedded.child import free_port


def test_executions_end_although_nobody_takes_their_spans(redis: Redis, tmp_path: Path) -> None:
    nowhere = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}",
        "OTEL_BSP_SCHEDULE_DELAY": "50",
        "VALKYR_LOG_FORMAT": "text",
    }
    fleet = Fleet(tmp_path, redis.url, QUICK | nowhere)
    try:
        worker = fleet.worker("alone", "default", "prefork", 1)
        fleet.ensure()
        workflow = publish({"tasks": [effect("a"), effect("b", "a")]})
        done = [start(workflow) for _ in range(20)]
        assert set(wait_for_end(done).values()) == {"SUCCESS"}
        wait_until(lambda: "spans are not exported" in worker.log.read_text(), 20, "the line")
        worker.ask_to_stop()
        wait_until(lambda: not worker.alive(), 30, "the worker's end")
    finally:
        fleet.stop()

    said = worker.log.read_text()
    assert said.count("spans are not exported") <= 2, "one of the parent, one of its child"
    assert "Traceback" not in said
    assert WorkflowExecution.objects.filter(pk__in=done, state="SUCCESS").count() == len(done)
