"""A prefork worker's counters equal the database, even if its children die."""

from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from uuid import UUID

import pytest
from django.db.models import Count
from prometheus_client.parser import text_string_to_metric_families

from runners.models import Run
from tests.support.fleet import Fleet, Member
from tests.support.outages import kill, wait_for_mark
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start, wait_for_end
from valkyr_project.embedded.child import free_port

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]
QUEUE = "metered"
TOKEN = "a-token-that-nobody-guesses"


class Metered:
    """A worker of its own queue, and the port of its metrics."""

    def __init__(self, member: Member, port: int) -> None:
        self.member = member
        self.port = port

    def get(self, token: str = TOKEN) -> tuple[int, str]:
        """Return the status and the text of a scrape."""
        asked = HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            asked.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
            answer = asked.getresponse()
            return answer.status, answer.read().decode()
        finally:
            asked.close()

    def samples(self) -> Samples:
        """Return every sample by name and labels."""
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(self.get()[1])
            for sample in family.samples
        }

    def ended(self) -> dict[str, float]:
        """Return how many steps ended, by outcome."""
        found: dict[str, float] = {}
        for (name, labels), value in self.samples().items():
            if name == "valkyr_steps_ended_total":
                outcome = dict(labels)["outcome"]
                found[outcome] = found.get(outcome, 0) + value
        return found


@pytest.fixture
def metered(fleet: Fleet) -> Iterator[Metered]:
    port = free_port()
    member = fleet.worker(
        "metered", QUEUE, "prefork", 2, VALKYR_METRICS_PORT=str(port), VALKYR_METRICS_TOKEN=TOKEN
    )
    try:
        fleet.ensure()
        yield Metered(member, port)
    finally:
        fleet.remove("metered")


def metered_step(name: str, after: str | None = None, **inputs: Any) -> dict[str, Any]:
    """Return a step with an effect, on the queue that only the metered worker serves."""
    return {**effect(name, after, **inputs), "queue": QUEUE}


def recorded(ids: list[UUID]) -> dict[str, int]:
    """Return how many runs of these executions ended, by the counters' outcomes."""
    rows = Run.objects.filter(execution_id__in=ids).order_by()
    found = {row["state"]: row["n"] for row in rows.values("state").annotate(n=Count("pk"))}
    names = {"SUCCESS": "success", "FAILED": "retried", "DLQ": "dead"}
    return {names[state]: number for state, number in found.items()}


def test_counters_add_up_to_the_rows_after_retries_failures_and_a_killed_child(
    fleet: Fleet, metered: Metered
) -> None:
    quick = {"maxAttempts": 3, "baseSeconds": 0.05, "jitter": 0}
    good = publish({"tasks": [metered_step("a"), metered_step("b", after="a")]})
    retried = publish({"tasks": [metered_step("a", failTimes=2, retry=quick)]})
    dead = publish({"tasks": [metered_step("a", failTimes=9, errorType="PERMANENT")]})
    hanging = publish({"tasks": [metered_step("work", hangSeconds=50)]})
    ids = [start(good), start(good), start(retried), start(dead)]
    wait_for_end(ids)

    ids.append(start(hanging))
    kill(wait_for_mark(ids[-1])["pid"])
    wait_for_end(ids)
    after = start(good)  # the child that followed counts on in the same place
    wait_for_end([after])
    ids.append(after)

    # A count follows its commit, so it may be a moment late.
    wait_until(lambda: metered.ended() == recorded(ids), 30, f"{recorded(ids)} in the counters")
    assert recorded(ids) == {"success": 8, "retried": 2, "dead": 1}
    found = metered.samples()
    queue = frozenset({("queue", QUEUE)})
    assert found["valkyr_dispatch_latency_seconds_count", queue] >= len(ids)
    assert found["valkyr_lease_latency_seconds_count", queue] >= len(ids)
    assert found["valkyr_step_duration_seconds_count", frozenset({("module", "test.effect")})] == 11
    assert metered.get("another-token-of-somebody")[0] == 401
