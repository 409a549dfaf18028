"""Agents and programs from n8n run as they were drawn: tools, joins, dates."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from executions import payloads
from executions.models import WorkflowExecution
from tests.plugins.n8n.exports import converted, export, node
from tests.support.counterparts.llm import ModelServer
from tests.support.engine_database import engine_database
from tests.support.single_thread import World, world
from tests.support.workflows import publish, start

LANGCHAIN = "@n8n/n8n-nodes-langchain."
BEGIN = node("Begin", "manualTrigger")
MODEL = node("Model", f"{LANGCHAIN}lmChatOpenAi", {"model": "tools"})


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        yield quiet


@pytest.fixture
def llm(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    server = ModelServer()
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    monkeypatch.setenv("VALKYR_LLM_BASE_URL", server.url)
    yield server
    server.stop()


def run(queue: World, document: Any, output: str, given: Any = None) -> Any:
    """Run an export's workflow; return the value of this expression."""
    definition = converted(document).definition | {"output": "{{ " + output + " }}"}
    pk = start(publish(definition), given or {})
    queue.drain()
    execution = WorkflowExecution.objects.get(pk=pk)
    assert execution.state == "SUCCESS", execution.error_message
    found = execution.output
    return payloads.load(found) if isinstance(found, bytes) else found


def test_an_agent_runs_the_tools_that_its_model_asks_for(queue: World, llm: ModelServer) -> None:
    words = "={{ $fromAI('number', 'The order', 'string') }} was sent"
    tool = node("find_order", f"{LANGCHAIN}toolThink", {}) | {"type": "n8n-nodes-base.setTool"}
    tool["parameters"] = {"values": {"string": [{"name": "state", "value": words}]},
                          "keepOnlySet": True}  # fmt: skip
    agent = node("Agent", f"{LANGCHAIN}agent", {"text": "Where is order 17?"}, 2)
    links = [("Begin", 0, "Agent"), ("Model", "ai_languageModel", "Agent"),
             ("find_order", "ai_tool", "Agent")]  # fmt: skip

    document = export(BEGIN, agent, MODEL, tool, links=links)
    found = run(queue, document, "tasks.agent.output")

    assert found["iterations"] == 2
    talk = llm.requests[-1]["messages"]
    assert [message["role"] for message in talk] == ["user", "assistant", "tool", "tool"]
    assert talk[2]["content"] == '{"state": "17 was sent"}'
    # The second call's arguments were no JSON: the model is told, and the agent goes on.
    assert "arguments" in talk[3]["content"]
    schema = llm.requests[0]["tools"][0]["function"]["parameters"]
    assert schema["properties"] == {"number": {"type": "string", "description": "The order"}}


def test_an_mcp_servers_tools_answer_calls_of_a_webhook(queue: World) -> None:
    said = {"name": "said", "value": "=Hello {{ $fromAI('name') }}"}
    tool = node("Greet", "setTool", {"values": {"string": [said]}, "keepOnlySet": True})
    server = node("Server", f"{LANGCHAIN}mcpTrigger", {"path": "x"}, 1)
    document = export(server, tool, links=[("Greet", "ai_tool", "Server")])

    call = {"name": "Greet", "arguments": {"name": "Ann"}}
    found = run(queue, document, "tasks.server.output", call)
    unknown = run(queue, document, "tasks.server.output", {"name": "rm", "arguments": {}})

    assert (found, unknown) == ([{"said": "Hello Ann"}], ["There is no such tool."])


TEAS = node("Teas", "splitOut", {"fieldToSplitOut": "teas"}, 1)
PRICES = node("Prices", "splitOut", {"fieldToSplitOut": "prices"}, 1)
ROWS = {
    "teas": [{"tea": "sencha"}, {"tea": "assam"}],
    "prices": [{"name": "assam", "price": 4}, {"name": "mate", "price": 3}],
}
FIELDS = {"mergeByFields": {"values": [{"field1": "tea", "field2": "name"}]}, "advanced": True}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"mode": "combine", **FIELDS}, [{"tea": "assam", "name": "assam", "price": 4}]),
        ({"mode": "combine", "joinMode": "enrichInput1", **FIELDS},
         [{"tea": "sencha"}, {"tea": "assam", "name": "assam", "price": 4}]),
        ({"mode": "combine", "joinMode": "keepNonMatches", **FIELDS},
         [{"tea": "sencha"}, {"name": "mate", "price": 3}]),
        ({"mode": "combine", "combineBy": "combineByPosition"},
         [{"tea": "sencha", "name": "assam", "price": 4},
          {"tea": "assam", "name": "mate", "price": 3}]),
    ],
)  # fmt: skip
def test_two_lists_are_joined(
    queue: World, monkeypatch: pytest.MonkeyPatch, parameters: Any, expected: Any
) -> None:
    monkeypatch.setenv("VALKYR_PYTHON_CODE", "1")
    merge = node("Merge", "merge", parameters, 3.1)
    links = [("Begin", 0, "Teas"), ("Begin", 0, "Prices"), ("Teas", 0, "Merge", 0),
             ("Prices", 0, "Merge", 1)]  # fmt: skip

    found = run(queue, export(BEGIN, TEAS, PRICES, merge, links=links), "tasks.merge.output.result",
                ROWS)  # fmt: skip

    assert found == expected
