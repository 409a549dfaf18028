"""Tests of the end of a turn, without workers: limits, prices, and results given by a person."""

import json
from typing import Any

import pytest

from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.segment.step_context import Context

CALL = {"id": "c1", "name": "find", "arguments": {}, "argumentsText": "{}"}
USED = {"inputTokens": 1000, "outputTokens": 100, "cachedTokens": 400, "estimated": False}
# Each turn costs 600 * 2 + 400 * 1 + 100 * 10 = 2,600 millionths.
TURN = 0.0026


@pytest.fixture(autouse=True)
def prices(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"priced": {"input": 2, "cached": 1, "output": 10}}
    monkeypatch.setenv("VALKYR_LLM_PRICES", json.dumps(table))


def end_turn(ctx: Context, turn: int = 1, previous: Any = None, **given: Any) -> dict[str, Any]:
    answer = {"text": "", "toolCalls": [CALL], "finishReason": "tool_calls", "usage": USED}
    config = {"model": "priced", "answer": answer, "results": [], "turn": turn,
              "previous": previous, **given}  # fmt: skip
    result = registry.get("llm.agent_turn").run(config, ctx)
    assert isinstance(result, Result)
    outputs: dict[str, Any] = result.outputs
    return outputs


def test_turns_add_up_what_the_model_costs(step_context: Context) -> None:
    first = end_turn(step_context)
    second = end_turn(step_context, 2, first)

    assert first["cost"] == pytest.approx(TURN)
    assert second["cost"] == pytest.approx(2 * TURN)
    assert second["usage"]["inputTokens"] == 2_000


def test_an_agent_stops_after_the_turn_that_reaches_its_limit_of_costs(
    step_context: Context,
) -> None:
    first = end_turn(step_context, maxCost=2 * TURN)

    with pytest.raises(StepError, match=r"has cost 0\.0052 after 2 turns.*Raise maxCost") as caught:
        end_turn(step_context, 2, first, maxCost=2 * TURN)

    assert caught.value.fingerprint == "agent:max_cost"


def test_a_raised_limit_of_costs_counts_for_later_turns(step_context: Context) -> None:
    first = end_turn(step_context, maxCost=2 * TURN)
    raised = end_turn(step_context, 2, first, maxCost=3 * TURN)

    with pytest.raises(StepError, match="after 3 turns"):
        end_turn(step_context, 3, raised, maxCost=2 * TURN)
    assert raised["maxCost"] == pytest.approx(3 * TURN)


def test_the_last_answer_counts_even_if_it_reaches_the_limit_of_costs(
    step_context: Context,
) -> None:
    answer = {"text": "Done.", "finishReason": "stop", "usage": USED}

    done = end_turn(step_context, answer=answer, maxCost=TURN)

    assert (done["done"], done["text"]) == (True, "Done.")


def test_a_model_without_a_price_has_no_limit_of_costs(step_context: Context) -> None:
    first = end_turn(step_context, model="other", maxCost=TURN)

    assert first["cost"] is None


def test_an_agents_result_is_what_a_person_gave_for_its_last_turn() -> None:
    module, inputs = registry.get("llm.agent"), {"resultOf": "turn"}

    found = module.collected(inputs, 2, {"turn": {"done": True, "text": "Ask us by telephone."}})

    assert found["text"] == "Ask us by telephone."
    assert found["messages"] is None
    with pytest.raises(StepError, match="fix the dead letter of its step turn"):
        module.collected(inputs, 2, {"turn": None})
