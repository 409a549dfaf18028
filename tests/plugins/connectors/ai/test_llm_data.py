"""Tests of `llm.extract` and `llm.embed`, and of the tables of bad inputs of all AI steps."""

import pytest

from runners.modules import registry
from runners.modules.base import StepError
from tests.support.bad_inputs import check_row, rows
from tests.support.json_schemas import doubling
from tests.support.module_fixtures import KEY

AI = ("llm.chat", "llm.extract", "llm.embed", "quality.assess")
SCHEMA = {"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}


@pytest.mark.parametrize(("module_type", "bad"), rows(types=AI))
def test_a_bad_input_is_told_without_a_server(module_type, bad, step_context, monkeypatch):
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "")

    check_row(module_type, bad, step_context)


@pytest.mark.parametrize(("module_type", "bad"), rows(needs="llm", types=AI))
def test_a_bad_answer_is_told(module_type, bad, step_context, llm):
    check_row(module_type, bad, step_context, llm.url)


def test_data_that_fits_is_asked_for_once(run, llm):
    result = run("llm.extract", "valid", messages="Three pounds.", schema=SCHEMA)

    assert result.outputs["data"] == {"total": 3}
    assert result.outputs["repaired"] is False
    assert llm.requests[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert llm.requests[0]["temperature"] == 0


def test_data_with_a_mistake_is_repaired_once_and_both_requests_count(run, llm, step_context):
    result = run("llm.extract", "invalid-once", messages="Three pounds.", schema=SCHEMA)

    assert (result.outputs["data"], result.outputs["repaired"]) == ({"total": 3}, True)
    *_, answer, mistakes = llm.requests[1]["messages"]
    assert answer == {"role": "assistant", "content": '{"total": "three"}'}
    assert "total: 'three' is not of type 'number'" in mistakes["content"]
    usage = result.outputs["usage"]
    cost = step_context.costs[("invalid-once", "USD")]
    assert (cost.input_tokens, cost.output_tokens) == (usage["inputTokens"], usage["outputTokens"])
    assert usage["outputTokens"] == 5 + 3
    assert [headers["idempotency-key"] for headers in llm.headers] == [KEY, f"{KEY}-1"]


def test_a_model_that_errs_twice_fails_for_good_with_the_mistakes(run, llm):
    with pytest.raises(StepError) as caught:
        run("llm.extract", "invalid-twice", messages="Three pounds.", schema=SCHEMA)

    assert caught.value.details["answer"] == "I think it is three."
    assert "not valid JSON" in caught.value.details["errors"][0]["message"]
    assert llm.asked["invalid-twice"] == 2


def test_an_answer_is_checked_within_what_a_request_may_take(run, llm):
    with pytest.raises(StepError, match="more than 100,000 evaluations of the schema"):
        run("llm.extract", "valid", messages="Three pounds.", schema=doubling(15))

    assert llm.asked["valid"] == 1, "no other answer would be quicker to check"


def test_a_server_without_schemas_is_asked_for_json_and_its_fence_taken_off(run, llm):
    result = run("llm.extract", "older", messages="Three pounds.", schema=SCHEMA)

    assert result.outputs["data"] == {"total": 3}
    assert llm.requests[-1]["response_format"] == {"type": "json_object"}
    assert '"required": ["total"]' in llm.requests[-1]["messages"][-1]["content"]


def test_a_server_that_supports_no_optional_key_is_asked_without_all_of_them(run, llm):
    result = run("llm.extract", "plainest", messages="Three.", schema=SCHEMA, maxTokens=50)

    assert result.outputs["data"] == {"total": 3}
    assert llm.asked["plainest"] == 5
    assert not {"max_tokens", "stream_options", "response_format"} & set(llm.requests[-1])


def test_texts_become_vectors_in_their_order_batch_after_batch(run, llm, step_context):
    texts = [f"text {number}" for number in range(5)]

    outputs = run("llm.embed", "small", texts=texts, dimensions=4, batchSize=2).outputs

    assert [len(vector) for vector in outputs["vectors"]] == [4] * 5
    assert outputs["dimensions"] == 4
    assert [len(request["input"]) for request in llm.requests] == [2, 2, 1]
    assert (
        outputs["vectors"][3]
        == run("llm.embed", "small", texts=[texts[3]]).outputs["vectors"][0][:4]
    )
    assert step_context.costs[("small", "USD")].input_tokens == outputs["usage"]["inputTokens"] + 2


def test_too_many_vectors_are_refused_after_the_first_batch(run, llm):
    with pytest.raises(StepError, match="embed 2 texts a step"):
        run("llm.embed", "embed-wide", texts=["a", "b", "c"], batchSize=1)

    assert llm.asked["embed-wide"] == 1


def test_vectors_of_different_lengths_are_refused(run, llm):
    with pytest.raises(StepError, match="vectors of 4 and of 5 numbers"):
        run("llm.embed", "embed-uneven", texts=["a", "b", "c"], batchSize=1)

    assert llm.asked["embed-uneven"] == 2


@pytest.mark.parametrize("name", AI)
def test_an_ai_module_costs_unless_it_only_counts(name):
    assert registry.get(name).costs is name.startswith("llm.")
