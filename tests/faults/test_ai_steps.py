"""AI steps on real workers: a thesis from its topic to its file, and answers that are cut off."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from dlq.models import DeadLetterEntry
from executions.credentials import writing
from executions.definition.graph.document import load_text
from executions.models import Tier, WorkflowExecution, Workspace
from runners.models import Run
from tests.support.counterparts.llm import ModelServer
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, describe, publish, start, task, wait_for_end
from valkyr_plugins.limits.models import CostEntry

THESIS = Path(__file__).parents[2] / "examples" / "thesis-writer" / "workflow.yaml"
_numbers = count(1)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.stop()


@pytest.fixture
def workspace(fleet: Fleet) -> Workspace:
    """Create a workspace with a key for its models."""
    tier, _ = Tier.objects.get_or_create(name="unlimited")
    name = f"writers-{next(_numbers)}-{WorkflowExecution().pk.hex[-8:]}"
    made = Workspace.objects.create(slug=name, name=name, tier=tier)
    fields = {"token": "sk-test-4f1e8d27"}
    writing.create(made, name="llm", type="bearer", fields=fields, hosts=["127.0.0.1"], actor=ACTOR)
    return made


def ended(execution: UUID) -> WorkflowExecution:
    wait_for_end([execution], 120)
    return WorkflowExecution.objects.get(pk=execution)


def chat(model: str, server: ModelServer, **more: Any) -> dict[str, Any]:
    given = {"model": model, "baseUrl": server.url, "messages": "Hello", **more}
    return task("chat", "llm.chat", **{"with": given}, credential="llm")


def test_a_thesis_is_written_to_its_end_and_its_thin_chapter_refined(
    fleet: Fleet, workspace: Workspace, server: ModelServer
) -> None:
    document = load_text(THESIS.read_text(), content_type="application/yaml")
    assert isinstance(document, dict)
    payload = {"topic": "green tea", "pages": 3, "baseUrl": server.url, "model": "writer"}

    done = ended(start(publish(document, workspace), payload))

    assert done.state == "SUCCESS", describe([done.pk])
    assert done.output["chapters"] == ["Introduction", "Method", "Findings"]
    assert done.output["refined"] == ["Method"]
    assert min(done.output["scores"]) >= 0.6
    text = (fleet.folder / "files" / done.output["path"]).read_text()
    assert text.startswith("# On green tea\n")
    assert [text.count(f"\n## {title}\n") for title in done.output["chapters"]] == [1, 1, 1]
    assert done.metrics_snapshot["quality"] == {
        "count": 4, "mean": pytest.approx(0.78, abs=0.1), "passRate": 0.75,
    }  # fmt: skip
    assert done.metrics_snapshot["costTokens"] > 1000


def test_an_answer_is_seen_while_it_comes_and_what_it_cost_is_kept_though_it_fails(
    fleet: Fleet, workspace: Workspace, server: ModelServer
) -> None:
    slow = chat("slow", server) | {"retry": "none"}
    execution = start(publish({"tasks": [slow]}, workspace))

    def shown() -> bool:
        run = Run.objects.filter(execution=execution).first()
        return bool(run and run.heartbeat_details and "One word" in run.heartbeat_details["text"])

    wait_until(shown, 30, "the answer's first words")
    server.closing.set()  # the server that answers hangs up
    assert ended(execution).state == "FAILED"
    run = Run.objects.get(execution=execution)
    assert run.error_type == "TRANSIENT", run.error
    (cost,) = CostEntry.objects.filter(run_id=run.pk)
    assert (cost.model, cost.output_tokens) == ("slow", 4)  # "One word and " has 13 characters
    assert run.cost_tokens == cost.tokens > 4
    assert any("One word and" in entry["message"] for entry in run.logs)


def test_a_rate_limit_is_waited_for_and_a_refused_key_is_a_dead_letter(
    fleet: Fleet, workspace: Workspace, server: ModelServer
) -> None:
    waits = start(publish({"tasks": [chat("busy-once", server)]}, workspace))
    refused = start(publish({"tasks": [chat("locked", server)]}, workspace))

    assert ended(waits).state == "SUCCESS", describe([waits])
    assert ended(refused).state == "FAILED"
    (entry,) = DeadLetterEntry.objects.filter(execution=refused)
    assert entry.run.attempt == 1
    assert "rejected the key" in entry.run.error
    assert "sk-test" not in str(entry.run.logs) + entry.run.error
    assert server.asked["busy-once"] == 2
