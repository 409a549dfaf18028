"""Control modules: outcomes, failures and variables."""

import pytest
from pydantic import ValidationError

from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.states import ErrorType


def run(type_name, config, context):
    return registry.get(type_name).run(config, context)


def test_noop_passes_its_value_on(step_context):
    assert run("flow.noop", {}, step_context) == Result(None)
    assert run("flow.noop", {"value": {"a": [1]}}, step_context) == Result({"a": [1]})


@pytest.mark.parametrize(
    "value", [True, 1, -0.5, "yes", "x", "00", [0], {"a": None}, "False alarm", " true "]
)
def test_if_takes_these_for_true(value, step_context):
    assert run("flow.if", {"condition": value}, step_context) == Result({"result": True}, "true")


@pytest.mark.parametrize(
    "value",
    [False, None, 0, 0.0, "", "  ", [], {}, "false", "False", " FALSE ", "0", "no", "off", "Null",
     "None"],
)  # fmt: skip
def test_if_takes_these_for_false(value, step_context):
    assert run("flow.if", {"condition": value}, step_context).outcome == "false"


@pytest.mark.parametrize(
    ("value", "cases", "outcome"),
    [
        ("DE", ["DE", "FR"], "DE"),
        ("IT", ["DE", "FR"], "default"),
        ("IT", {"FR": "eu", "IT": "eu"}, "eu"),
        (1, ["1", "2"], "1"),
        ("1", [1, 2], "1"),
        (1.0, [1], "1"),
        (True, [True, False], "true"),
        ("true", [True], "true"),
        (None, [None], "null"),
        (0.5, ["0.5"], "0.5"),
    ],
)
def test_switch_takes_the_case_that_reads_the_same(value, cases, outcome, step_context):
    assert run("flow.switch", {"value": value, "cases": cases}, step_context).outcome == outcome


def test_switch_takes_a_default_of_the_authors_own(step_context):
    config = {"value": "x", "cases": ["a"], "default": "other"}

    assert run("flow.switch", config, step_context).outcome == "other"


def test_switch_tells_its_outcomes_before_it_runs():
    outcomes_for = registry.specs()["flow.switch"].outcomes_for

    assert outcomes_for({"cases": ["a", 1, None]}) == ("a", "1", "null", "default")
    assert outcomes_for({"cases": {"FR": "eu", "IT": "eu"}, "default": "x"}) == ("eu", "x")
    assert outcomes_for({"cases": "{{ input.cases }}"}) == ("default",)


def test_switch_refuses_cases_that_are_not_known_when_publishing():
    check = registry.specs()["flow.switch"].check

    (problem,) = check({"value": "{{ input.x }}", "cases": "{{ input.cases }}"})

    assert (problem.pointer, problem.code) == (("cases",), "template_not_allowed")


@pytest.mark.parametrize("cases", [["error"], {"a": "error"}, [""], ["x" * 101]])
def test_switch_refuses_what_cannot_be_an_outcome(cases):
    (problem,) = registry.specs()["flow.switch"].check({"value": 1, "cases": cases})

    assert problem.pointer == ("cases",)


def test_switch_refuses_a_value_that_is_no_single_one(step_context):
    with pytest.raises(ValidationError, match="value"):
        run("flow.switch", {"value": [1], "cases": ["a"]}, step_context)


@pytest.mark.parametrize("error_type", ["PERMANENT", "TRANSIENT", "TIMEOUT"])
def test_fail_fails_as_it_is_told(error_type, step_context):
    config = {"message": "no stock", "errorType": error_type, "details": {"sku": 7}}

    with pytest.raises(StepError, match="no stock") as caught:
        run("flow.fail", config, step_context)

    assert caught.value.error_type == ErrorType(error_type)
    assert caught.value.details == {"sku": 7}


def test_set_variables_yields_what_it_sets(make_context):
    result = run("flow.set_variables", {"values": {"a": 2}}, make_context(a=1, b=1))

    assert result == Result({"a": 2}, variables={"a": 2})


def test_set_variables_names_what_the_workflow_does_not_declare(make_context):
    config = {"values": {"carier": "x", "a": 1}}

    with pytest.raises(StepError, match="no variable named carier; it declares: a, carrier"):
        run("flow.set_variables", config, make_context(a=1, carrier=None))


@pytest.mark.parametrize(
    "type_name", [name for name, spec in registry.specs().items() if spec.category == "control"]
)
def test_control_modules_run_inline_unless_they_wait_and_repeat_safely(type_name):
    spec = registry.specs()[type_name]

    assert (spec.inline, spec.effect) == (not (spec.waits or spec.container), "none")
