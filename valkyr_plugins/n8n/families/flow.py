"""Convert flow nodes: Execute Workflow, Wait, Stop and Error, Merge, Respond to Webhook."""

from typing import Any

from valkyr_plugins.n8n.families.joins import (
    joined_by_fields,
    joined_by_pairs,
    joined_by_place,
)
from valkyr_plugins.n8n.mapping import MERGE, Left, Made, NodeWork, family, workflow_slug
from valkyr_plugins.n8n.shape import UNKNOWN, Shape, many, one, operand
from valkyr_plugins.n8n.texts import is_expression


@family("executeWorkflow")
def execute_workflow(work: NodeWork) -> Made:
    """Make a `flow.subworkflow` task, with the input as its payload. Raises Left."""
    if work.word("mode", "once") == "each" and work.shape.items is not None:
        raise Left(work.shape.why)
    return subworkflow(work, _payload(work))


def subworkflow(work: NodeWork, payload: Any) -> Made:
    """Make a `flow.subworkflow` task with a payload. Raises Left if the workflow is unknown."""
    given = work.get("workflowId")
    name = given.get("cachedResultName") if isinstance(given, dict) else None
    pk = given.get("value") if isinstance(given, dict) else given
    if work.word("source", "database") not in ("database", "parameter") or not pk:
        raise Left(
            "it runs a workflow from a file or an address; import that workflow and name it here"
        )
    if is_expression(pk):
        raise Left("it computes which workflow to run; use a flow.switch over flow.subworkflow")
    slug = workflow_slug(str(name or f"workflow-{pk}"))[:80].strip("-") or "workflow"
    work.report.workflow(slug, f"{name or ''} ({pk})".strip(), work.node.name)
    inputs: dict[str, Any] = {"workflow": slug, "input": payload}
    if work.get("options.waitForSubWorkflow") is False:
        inputs["wait"] = False
    return work.made("flow.subworkflow", inputs, one(f"{work.output}.output"))


def _payload(work: NodeWork) -> Any:
    values = work.get("workflowInputs.value")
    if isinstance(values, dict) and values:
        return work.value(values)
    if work.shape.whole is not None:
        return "{{ " + work.shape.whole + " }}"
    work.remark("The input for the workflow could not be determined; its payload is empty.")
    return {}


# Wait, Stop and Error.


SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}
MAX_SECONDS = 365 * 86_400


@family("wait")
def wait(work: NodeWork) -> Made:
    """Make a `flow.delay` task, or `flow.callback` if the node waits for a call. Raises Left."""
    how = work.word("resume", "timeInterval")
    if how == "specificTime":
        work.remark("The time needs a zone, as in 2027-01-31T08:00:00+01:00.")
        return Made("flow.delay", {"until": _instant(work)}, work.shape)
    if how == "webhook":
        return _callback(work)
    if how != "timeInterval":
        raise Left(
            "it waits for a form; ask a person with flow.approval, or wait with flow.callback"
        )
    unit = work.word("unit", "hours" if work.node.version < 1.1 else "seconds")
    amount = work.get("amount", 1 if work.node.version < 1.1 else 5)
    return Made("flow.delay", {"seconds": _seconds(work, amount, SECONDS.get(unit, 1))}, work.shape)


def _instant(work: NodeWork) -> str:
    raw = work.word("dateTime")
    if is_expression(raw):
        return work.text(raw)
    if raw.endswith("Z") or "+" in raw[10:] or "-" in raw[10:]:
        return raw
    if not raw:
        raise Left("the time until which it waits is missing")
    return work.text("={{ $until }}") if len(raw) < 19 else f"{raw[:19]}Z"


def _seconds(work: NodeWork, amount: Any, unit: int) -> Any:
    if is_expression(amount):
        return "{{ " + f"{work.texts.expression(amount)} * {unit}" + " }}"
    try:
        seconds = min(max(float(amount) * unit, 0), MAX_SECONDS)
        return int(seconds) if seconds.is_integer() else seconds
    except (TypeError, ValueError):
        raise Left("the duration of its wait is missing") from None


def _callback(work: NodeWork) -> Made:
    work.remark(
        f"Its address is tasks.{work.id}.callbackUrl; $execution.resumeUrl does not exist here."
    )
    inputs: dict[str, Any] = {"title": work.node.name[:200]}
    if work.get("limitWaitTime") is True and work.word("limitType") != "atSpecifiedTime":
        unit = SECONDS.get(work.word("resumeUnit", "hours"), 3600)
        inputs["timeoutSeconds"] = _seconds(work, work.get("resumeAmount", 1), unit)
    shape = Shape(named={("body",): f"{work.output}.payload"})
    return Made("flow.callback", inputs, shape, {0: "success"})


@family("stopAndError")
def stop_and_error(work: NodeWork) -> Made:
    """Make a `flow.fail` task with the node's message or details."""
    if work.word("errorType") == "errorObject":
        raw = work.get("errorObject", "{}")
        try:
            details = work.texts.json_text(raw) if isinstance(raw, str) else work.value(raw)
        except (ValueError, RecursionError):
            details = work.value(raw)
        return Made("flow.fail", {"message": "An error occurred", "details": details}, work.shape)
    message = work.get("errorMessage", work.get("message", ""))
    return Made("flow.fail", {"message": work.text(message) or "An error occurred"}, work.shape)


# Merge: a task that waits for all of its inputs.


BY_PLACE = ("mergeByPosition", "combineByPosition", "mergeByIndex", "multiplex", "combineAll")


@family("merge", takes=MERGE)
def merge(work: NodeWork) -> Made:
    """Merge inputs: append, choose one, combine by position or join on fields. Raises Left."""
    if work.exclusive:
        work.remark(
            "Only one of its branches is taken, so it continues when that branch has ended."
        )
        return Made("flow.noop", {}, work.shape)
    mode = work.word("mode", "append")
    how = work.word("combineBy", work.word("combinationMode", "combineByFields"))
    if mode in ("passThrough", "chooseBranch"):
        return _chosen(work)
    if mode in ("append", "wait"):
        return _appended(work)
    if mode in BY_PLACE or (mode == "combine" and how in BY_PLACE):
        return _combined(work)
    if mode == "combineBySql":
        raise Left("it joins items by SQL; join them in the database, or in python.code")
    return joined_by_fields(work)


def _shapes(work: NodeWork) -> list[Shape]:
    return [work.inputs[place] for place in sorted(work.inputs)]


def _chosen(work: NodeWork) -> Made:
    given = work.get("useDataOfInput", work.word("output", "input1"))
    last = str(given)[-1:]
    place = int(last) - 1 if last.isdigit() and last != "0" else 0
    return Made("flow.noop", {}, work.inputs.get(place, work.shape), join="all")


def _appended(work: NodeWork) -> Made:
    shapes = _shapes(work)
    if len(shapes) < 2:
        return Made("flow.noop", {}, work.shape, join="all")
    lists = [
        operand(shape.items) if shape.items else f"[{_whole(work, shape)}]" for shape in shapes
    ]
    value = "{{ " + " + ".join(lists) + " }}"
    return Made("flow.noop", {"value": value}, many(work.output), join="all")


def _combined(work: NodeWork) -> Made:
    shapes = _shapes(work)
    if any(shape.items is not None for shape in shapes):
        mode = work.word("mode", "combine")
        how = work.word("combineBy", work.word("combinationMode", mode))
        pairs = mode == "multiplex" or how in ("multiplex", "combineAll")
        return joined_by_pairs(work) if pairs else joined_by_place(work)
    shapes += [UNKNOWN] * (2 - len(shapes))
    places = ", ".join(f"@[{place}]" for place in range(len(shapes)))
    data = ["{{ " + _whole(work, shape) + " }}" for shape in shapes]
    inputs = {"expression": f"merge({places})", "data": data}
    return Made("data.jmespath", inputs, one(f"{work.output}.result"), join="all")


def _whole(work: NodeWork, shape: Shape) -> str:
    """Return the expression for an input, or a `todo` if it is missing."""
    return shape.whole or work.texts.left("an input of the merge", shape.why)


# Respond to Webhook: the execution's output is the response.


@family("respondToWebhook")
def respond(work: NodeWork) -> Made:
    """Make a `flow.noop` task with the response, which the workflow's `output` reads."""
    kind = work.word("respondWith", "firstIncomingItem")
    status = work.get("options.responseCode", 200)
    if status not in (200, "200"):
        work.remark("It set the response's status; a success responds with 200.")
    if work.get("options.responseHeaders") is not None:
        work.remark("It set headers of the response, which is not possible.")
    return work.made("flow.noop", {"value": _answer(work, kind)}, work.shape)


def _answer(work: NodeWork, kind: str) -> Any:
    body = work.get("responseBody", "")
    if kind == "json" and isinstance(body, str):
        try:
            return work.texts.json_text(body)
        except (ValueError, RecursionError):
            return work.text(body)
    if kind in ("text", "json", "noData"):
        return None if kind == "noData" else work.value(body)
    found = work.shape.whole if kind == "firstIncomingItem" else None
    if kind in ("allIncomingItems", "firstIncomingItem"):
        found = found or work.shape.items
    return "{{ " + (found or work.texts.left(f"answer: {kind}", work.shape.why)) + " }}"
