"""Tests of the options of a redrive, and of the contents that an expression may have."""

from typing import Any

import pytest

from dlq.models import DeadLetterEntry
from valkyr_plugins.redrive import patching
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.options import InvalidRedrive, RedriveOptions, check

# New executions are forks.
NEWEST = ({"scope": "EXECUTION", "version": "newest"}, "version", "pinned, latest or a number")
NOUGHT = ({"scope": "EXECUTION", "version": 0}, "version", "pinned, latest or a number")


@pytest.mark.parametrize(
    ("wish", "path", "says"),
    [
        ({"scope": "TASK"}, "scope", "Expected one of STEP, FROM, EXECUTION"),
        ({"from_step": "a.main"}, "fromStep", "requires the scope FROM"),
        ({"version": "latest"}, "version", "choose FROM or EXECUTION"),
        pytest.param(*NEWEST, marks=pytest.mark.plugins),
        pytest.param(*NOUGHT, marks=pytest.mark.plugins),
        ({"overrides": [1]}, "overrides", "a JSON object"),
        ({"overrides": {"a": 1}, "expression": "inputs"}, "expression", "not both"),
        ({"expression": "inputs."}, "expression", "expected name"),
        ({"expression": "{{ inputs }} and {{ error }}"}, "expression", "one expression"),
        ({"expression": "secrets.shop"}, "expression", "'secrets' is unknown here"),
        ({"expression": "{'a': tasks.b.output}"}, "expression", "'tasks' is unknown here"),
        ({"rate": 0}, "ratePerSecond", "more than 0"),
        ({"rate": float("nan")}, "ratePerSecond", "more than 0"),
        ({"max_in_flight": 0}, "maxInFlight", "1 to 100,000"),
        ({"canary": -1}, "canary", "0 to 1,000"),
        ({"stop_above": 101}, "stopAbove", "0 to 100"),
        ({"stop_window": 0}, "stopWindow", "1 to 1,000"),
    ],
)
def test_what_cannot_be_is_refused_by_name(wish: dict[str, Any], path: str, says: str) -> None:
    with pytest.raises(InvalidRedrive) as caught:
        check(RedriveOptions(**wish))

    (problem,) = caught.value.problems
    assert problem.path == path
    assert says in problem.message


@pytest.mark.parametrize(
    "text",
    ['{"to": inputs.to | lower}', '{{ {"to": inputs.to | lower} }}', ' {"to": inputs.to|lower} '],
)
def test_an_expression_is_written_with_or_without_braces(text: str) -> None:
    check(RedriveOptions(expression=text))

    assert patching.expression_patch(
        patching.compiled_expression(text), {"inputs": {"to": "A@B"}}
    ) == {"to": "a@b"}


@pytest.mark.parametrize(
    ("text", "says"),
    [("inputs.to", "expected an object"), ("null_ if false else none", "expected an object")],
)
def test_an_expression_that_gives_no_object_says_so(text: str, says: str) -> None:
    with pytest.raises(patching.Unusable, match=says):
        patching.expression_patch(patching.compiled_expression(text), {"inputs": {"to": "x"}})


def test_an_expression_that_fails_says_where() -> None:
    template = patching.compiled_expression('{"n": 1 / inputs.n}')

    with pytest.raises(patching.Unusable, match="division by zero"):
        patching.expression_patch(template, {"inputs": {"n": 0}})


def test_a_schema_among_changed_inputs_has_the_budget_of_one_in_a_definition() -> None:
    large = {"properties": {f"k{n}": {"type": "string"} for n in range(3_000)}}
    entry = DeadLetterEntry(
        module="data.validate", step_path="a.main", original_inputs={"data": 1, "schema": {}}
    )

    patch_one = patching.patcher(Redrive(overrides={"schema": large}))
    assert patch_one is not None
    [problem] = patch_one(entry).problems

    assert "schema: Value error, not a JSON Schema: it has too many parts to be checked" in problem
