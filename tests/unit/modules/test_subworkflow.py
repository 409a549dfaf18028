"""A sub-workflow step's request, and its result after the child's end."""

import pytest

from runners.modules import registry
from runners.modules.base import Result, StepError, Wait
from runners.states import WaitKind

CONFIG = {"workflow": "ship", "input": {"n": 1}}


def woken(wake, context):
    return registry.get("flow.subworkflow").run(CONFIG, context, {"by": "child", **wake})


def codes(config):
    return [problem.code for problem in registry.specs()["flow.subworkflow"].check(config)]


def test_it_holds_no_worker_and_is_safe_to_repeat():
    spec = registry.specs()["flow.subworkflow"]

    assert (spec.waits, spec.inline, spec.effect, spec.queue) == (True, False, "none", "default")


def test_it_asks_for_a_child_with_everything_named(step_context):
    found = registry.get("flow.subworkflow").run({"workflow": "ship"}, step_context)

    assert found == Wait(
        WaitKind.CHILD, facts={"workflow": "ship", "input": {}, "version": None, "wait": True}
    )


def test_a_child_that_ended_well_gives_its_output(step_context):
    wake = {"executionId": "7", "state": "SUCCESS", "output": [1], "error": ""}

    assert woken(wake, step_context) == Result({"executionId": "7", "output": [1]})


@pytest.mark.parametrize(
    ("state", "error", "sentence"),
    [
        ("FAILED", "boom", "failed: boom"),
        ("CANCELLED", "Cancelled by ann.", "was cancelled: Cancelled by ann."),
        ("TIMEOUT", "", "ran out of time."),
        ("SUCCESS", "too large", "succeeded, but its output cannot be used: too large"),
    ],
)
def test_any_other_end_is_a_permanent_failure(step_context, state, error, sentence):
    with pytest.raises(StepError) as caught:
        woken({"executionId": "7", "state": state, "error": error}, step_context)

    assert caught.value.message == f"The child execution 7 of workflow 'ship' {sentence}"
    assert caught.value.error_type == "PERMANENT"
    assert caught.value.details == {"executionId": "7", "state": state}


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"workflow": ""},
        {"workflow": "x" * 81},
        {"workflow": "ship", "version": 0},
        {"workflow": "ship", "version": 2**31},
        {"workflow": "ship", "wait": "perhaps"},
        {"workflow": "ship", "params": {}},
    ],
)
def test_a_config_that_cannot_be_meant_is_refused(config):
    assert codes(config)
