"""The behaviour of modules in random workflows: the oracle's side."""

from collections.abc import Mapping
from typing import Any

from tests.support.expressions import Unrenderable, render
from tests.support.interpreter import ERROR, SUCCESS, Anything, Scope


def behave(
    module: Mapping[str, Any], scope: Scope, *, attempts: int, mended: bool = False
) -> tuple[str, Any]:
    """Return a step's outcome and its output after at most this number of attempts.

    A repaired step was requeued with `failTimes: 0`.
    """
    try:
        inputs = render(module.get("with") or {}, scope)
    except Unrenderable:
        return ERROR, None
    if mended:
        inputs["failTimes"] = 0
    return DOES[module["use"]](inputs, attempts)


def _noop(inputs: dict[str, Any], attempts: int) -> tuple[str, Any]:
    return SUCCESS, inputs.get("value")


def _switch(inputs: dict[str, Any], attempts: int) -> tuple[str, Any]:
    chosen = inputs["value"] if inputs["value"] in inputs["cases"] else "default"
    return chosen, {"value": inputs["value"], "outcome": chosen}


def _fail(inputs: dict[str, Any], attempts: int) -> tuple[str, Any]:
    return ERROR, None


def _effect(inputs: dict[str, Any], attempts: int) -> tuple[str, Any]:
    tries = 1 if inputs.get("errorType") == "PERMANENT" else attempts
    if inputs.get("failTimes", 0) >= tries:
        return ERROR, None
    return inputs.get("outcome", SUCCESS), inputs.get("value")


def _wait(inputs: dict[str, Any], attempts: int) -> tuple[str, Any]:
    if inputs.get("fail"):
        return ERROR, None
    return inputs.get("outcome", SUCCESS), inputs.get("value")


def _delay(inputs: dict[str, Any], attempts: int) -> tuple[str, Any]:
    return SUCCESS, Anything()


def _approved(inputs: dict[str, Any], attempts: int) -> tuple[str, Any]:
    """Approve: every decision approves."""
    return "approved", Anything()


DOES = {
    "flow.approval": _approved,
    "flow.delay": _delay,
    "flow.noop": _noop,
    "flow.subworkflow": _delay,
    "flow.switch": _switch,
    "flow.fail": _fail,
    "flow.wait_for_event": _delay,
    "test.effect": _effect,
    "test.wait": _wait,
}
