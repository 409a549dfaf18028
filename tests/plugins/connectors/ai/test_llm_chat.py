"""Tests of `llm.chat` against a real server that streams, pauses and breaks off."""

import base64
import json
from decimal import Decimal

import pytest

from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.secrets.scrubbing import Scrubber
from runners.states import ErrorType
from tests.support.module_fixtures import KEY


def failure(run, model, **given):
    with pytest.raises(StepError) as caught:
        run("llm.chat", model, messages="Hello", **given)
    return caught.value


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer_is_the_same_streamed_or_whole(run, step_context, stream):
    result = run("llm.chat", "plain", messages="Chapter: Tea\nWords: 30", stream=stream)

    assert result.outcome == "success"
    assert result.outputs["text"].startswith("## Tea\n\nThe sources agree")
    assert result.outputs["finishReason"] == "stop"
    assert result.outputs["model"] == "plain"
    assert result.outputs["usage"] == {
        "inputTokens": 6, "outputTokens": 48, "cachedTokens": 0, "estimated": False,
    }  # fmt: skip
    assert step_context.costs[("plain", "USD")].tokens == 54


def test_the_conversation_is_sent_as_written(run, llm):
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n and so on").decode()
    messages = [
        {"content": [{"text": "What is it?"}, {"imageBase64": png, "detail": "low"}]},
        {"role": "assistant", "content": "Tea."},
        {"content": [{"imageUrl": "https://images.example.com/a.png"}]},
    ]

    run("llm.chat", "echo", system="Be brief.", messages=messages, temperature=0.5, stop=["\n"])

    (sent,) = llm.requests
    assert sent["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [
            {"type": "text", "text": "What is it?"},
            {"type": "image_url",
             "image_url": {"url": f"data:image/png;base64,{png}", "detail": "low"}},
        ]},
        {"role": "assistant", "content": "Tea."},
        {"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "https://images.example.com/a.png"}},
        ]},
    ]  # fmt: skip
    assert (sent["temperature"], sent["stop"]) == (0.5, ["\n"])


def test_the_key_and_the_idempotency_key_are_sent_and_nothing_of_the_environment(
    run, llm, step_context, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-worker")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-worker")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Worker: secret")
    step_context.credential = {"token": "sk-of-the-workspace"}

    run("llm.chat", "echo", messages="Hello")

    (headers,) = llm.headers
    assert headers["authorization"] == "Bearer sk-of-the-workspace"
    assert headers["idempotency-key"] == KEY
    assert {"openai-organization", "x-worker"}.isdisjoint(headers)
    assert headers["user-agent"] == "Valkyr"


def test_without_a_credential_no_key_is_sent(run, llm, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-worker")

    run("llm.chat", "echo", messages="Hello")

    assert "authorization" not in llm.headers[0]


@pytest.mark.parametrize(
    ("model", "error_type", "says"),
    [
        ("busy", ErrorType.TRANSIENT, "Rate limit reached"),
        ("broke", ErrorType.PERMANENT, "no credit left"),
        ("locked", ErrorType.PERMANENT, "rejected the key"),
        ("filtered", ErrorType.PERMANENT, "content filter"),
        ("filtered-later", ErrorType.PERMANENT, "stopped its answer because of its content filter"),
        ("down", ErrorType.TRANSIENT, "answered 503"),
        ("unknown", ErrorType.PERMANENT, "check model and baseUrl"),
        ("elsewhere", ErrorType.PERMANENT, "redirects to another address (307)"),
        ("breaks", ErrorType.TRANSIENT, "interrupted its answer"),
        ("endless-sentence", ErrorType.TRANSIENT, "ended its answer early"),
        ("shapeless", ErrorType.PERMANENT, "does not follow OpenAI's protocol, at choices"),
        ("number", ErrorType.PERMANENT, "responded with int"),
        ("packed", ErrorType.PERMANENT, "in the encoding 'gzip'"),
        ("long-line", ErrorType.PERMANENT, "bytes in one event"),
    ],
)  # fmt: skip
def test_a_failure_says_whether_it_passes_and_what_to_do(run, model, error_type, says):
    error = failure(run, model)

    assert says in error.message
    assert error.error_type is error_type


def test_a_rate_limit_says_when_to_come_back(run):
    assert failure(run, "busy").retry_after == 7


def test_what_a_provider_says_of_a_key_is_not_repeated(run):
    assert "sk-" not in failure(run, "locked").message


@pytest.mark.parametrize("model", ["silent", "slow"])
def test_an_answer_that_takes_too_long_is_a_time_out(run, model):
    error = failure(run, model, timeoutSeconds=0.3)

    assert error.error_type is ErrorType.TIMEOUT
    assert "after 0.3 s" in error.message


def test_a_broken_answer_has_cost_what_had_come(run, step_context):
    failure(run, "cut")

    cost = step_context.costs[("cut", "USD")]
    assert cost.output_tokens == 4  # "Half of the ans" has 15 characters
    assert cost.input_tokens > 0
    assert any("estimated" in entry["message"] for entry in step_context.log.entries)


def test_a_refused_request_has_cost_nothing(run, step_context):
    failure(run, "busy")

    assert step_context.costs == {}


def test_tokens_are_estimated_where_the_provider_counts_none(run):
    result = run("llm.chat", "uncounted", messages="Hello")

    assert result.outputs["usage"]["outputTokens"] == 10
    assert result.outputs["usage"]["estimated"] is True


def test_tokens_cost_what_the_price_list_says(run, step_context, monkeypatch):
    prices = {"*": {"input": 9}, "ech*": {"input": 2, "output": "4.5", "currency": "EUR"}}
    monkeypatch.setenv("VALKYR_LLM_PRICES", json.dumps(prices))

    run("llm.chat", "echo", messages="x" * 4000)

    (cost,) = step_context.costs.values()
    assert (cost.model, cost.currency, cost.tokens) == ("echo", "EUR", 2000)
    assert cost.amount == Decimal("0.0065")


def test_a_bad_price_list_is_told_before_anything_is_spent(run, llm, monkeypatch):
    monkeypatch.setenv("VALKYR_LLM_PRICES", '{"gpt-4o": {"input": -1}}')

    assert "VALKYR_LLM_PRICES, at gpt-4o.input" in failure(run, "echo").message
    assert llm.requests == []


@pytest.mark.parametrize("stream", [True, False])
def test_a_model_that_asks_for_a_tool_decides_where_to_go_on(run, stream):
    tools = [{"name": "find_order", "parameters": {"type": "object"}}]
    result = run("llm.chat", "tools", messages="Where is order 17?", tools=tools, stream=stream)

    assert result.outcome == "tool_calls"
    first, *others = result.outputs["toolCalls"]
    assert first == {
        "id": "call_1", "name": "find_order", "arguments": {"number": "17"},
        "argumentsText": '{"number": "17"}',
    }  # fmt: skip
    assert [call["arguments"] for call in others] == ([None] if stream else [])


def test_a_tools_result_goes_back_to_the_model(run, llm):
    tools = [{"name": "find_order"}]
    asked = run("llm.chat", "tools", messages="Where is it?", tools=tools, stream=False)
    calls = asked.outputs["toolCalls"]
    messages = [
        {"content": "Where is it?"},
        {"role": "assistant", "toolCalls": calls},
        {"role": "tool", "toolCallId": "call_1", "content": "on its way"},
    ]

    result = run("llm.chat", "tools", messages=messages, tools=tools)

    assert (result.outcome, result.outputs["text"]) == ("answer", "It says on its way.")
    assert llm.requests[-1]["messages"][1]["tool_calls"][0]["function"]["name"] == "find_order"


def test_only_a_step_with_tools_has_outcomes():
    module = registry.get("llm.chat")

    assert module.outcomes_for({"model": "m"}) == ()
    assert module.outcomes_for({"tools": "{{ vars.tools }}"}) == ("answer", "tool_calls")


def test_a_key_that_a_server_does_not_know_is_put_otherwise(run, llm):
    newer = run("llm.chat", "newer", messages="Hello", maxTokens=50)
    older = run("llm.chat", "older", messages="Hello")

    assert newer.outputs["text"] == "At most 50."
    assert older.outputs["text"].startswith("```json")
    assert [llm.asked["newer"], llm.asked["older"]] == [2, 2]
    assert [sent["idempotency-key"] for sent in llm.headers[:2]] == [KEY, f"{KEY}-0.1"]


def test_a_server_that_does_not_stream_is_understood(run):
    assert run("llm.chat", "whole", messages="Hello").outputs["text"] == "All at once."


def test_reasoning_is_told_apart_from_the_answer(run):
    outputs = run("llm.chat", "reasons", messages="1 + 1?").outputs

    assert (outputs["reasoning"], outputs["text"]) == ("One and one…", "Two.")


def test_an_answer_that_was_cut_off_says_so_or_fails(run):
    assert run("llm.chat", "truncated", messages="Hi").outputs["finishReason"] == "length"
    assert "raise maxTokens" in failure(run, "truncated", failOnTruncation=True).message


def test_an_answer_is_logged_in_pieces_that_end_at_a_space_and_not_for_ever(run, step_context):
    run("llm.chat", "chatty", messages="Hello")

    said = [e["message"] for e in step_context.log.entries if e["message"].startswith("word")]
    assert 10 <= len(said) <= 60
    assert all(piece.endswith("word") for piece in said)
    assert any("the rest" in entry["message"] for entry in step_context.log.entries)


@pytest.mark.parametrize("before", range(0, 24, 6))
def test_a_secret_that_the_model_repeats_is_never_shown_in_part(run, step_context, before):
    secret, told = "s3cr3t-9f8e7d6c5b4a3210", []
    step_context.reveal({"token": secret}, Scrubber({secret: "[secret:key]"}))
    step_context.mind(cancelled=lambda: False, details=told.append)

    run("llm.chat", "echo", messages=f"{'x' * before} {'tea ' * 95}{secret} {'tea ' * 200}")

    shown = json.dumps([step_context.log.entries, told])
    assert "[secret:key]" in shown
    assert secret[:6] not in shown
    assert secret[-6:] not in shown


def test_a_step_that_is_not_wanted_any_more_stops_listening(run, step_context):
    step_context.mind(cancelled=lambda: True, details=lambda details: None)

    assert "was stopped" in failure(run, "chatty").message


def test_the_address_of_the_installation_must_be_one(run, monkeypatch):
    monkeypatch.setenv("VALKYR_LLM_BASE_URL", "api.example.com")

    assert "VALKYR_LLM_BASE_URL is not the address" in failure(run, "echo").message


def test_a_circuit_is_the_models(llm):
    module = registry.get("llm.chat")

    assert module.circuit(module.validated({"model": "glm-4", "messages": "a"})) == "llm:glm-4"


def test_the_result_fits_what_the_module_declares(run):
    result = run("llm.chat", "echo", messages="Hello")

    assert isinstance(result, Result)
    registry.get("llm.chat").Outputs.model_validate(result.outputs)
