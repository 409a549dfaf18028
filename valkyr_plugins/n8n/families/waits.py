"""Wait, Stop and Error."""

from typing import Any

from valkyr_plugins.n8n.shape import Shape
from valkyr_plugins.n8n.texts import is_expression
from valkyr_plugins.n8n.work import Left, Made, NodeWork, family

SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}
MAX_SECONDS = 365 * 86_400


@family("wait")
def wait(work: NodeWork) -> Made:
    """`flow.delay`, or `flow.callback` where it waits to be called."""
    how = work.word("resume", "timeInterval")
    if how == "specificTime":
        work.remark("The instant needs its zone, as in 2027-01-31T08:00:00+01:00.")
        return Made("flow.delay", {"until": _instant(work)}, work.shape)
    if how == "webhook":
        return _callback(work)
    if how != "timeInterval":
        raise Left("it waits for a form; ask a person by flow.approval, or wait by flow.callback")
    unit = work.word("unit", "hours" if work.node.version < 1.1 else "seconds")
    amount = work.get("amount", 1 if work.node.version < 1.1 else 5)
    return Made("flow.delay", {"seconds": _seconds(work, amount, SECONDS.get(unit, 1))}, work.shape)


def _instant(work: NodeWork) -> str:
    raw = work.word("dateTime")
    if is_expression(raw):
        return work.text(raw)
    if raw.endswith("Z") or "+" in raw[10:]:
        return raw
    if not raw:
        raise Left("it does not say until when it waits")
    return work.text("={{ $until }}") if len(raw) < 19 else f"{raw[:19]}Z"


def _seconds(work: NodeWork, amount: Any, unit: int) -> Any:
    if is_expression(amount):
        return "{{ " + f"{work.texts.expression(amount)} * {unit}" + " }}"
    try:
        seconds = min(max(float(amount) * unit, 0), MAX_SECONDS)
        return int(seconds) if seconds.is_integer() else seconds
    except (TypeError, ValueError):
        raise Left("it does not say how long it waits") from None


def _callback(work: NodeWork) -> Made:
    work.remark(f"Its address is tasks.{work.id}.callbackUrl; $execution.resumeUrl is no more.")
    inputs: dict[str, Any] = {"title": work.node.name[:200]}
    if work.get("limitWaitTime") is True and work.word("limitType") != "atSpecifiedTime":
        unit = SECONDS.get(work.word("resumeUnit", "hours"), 3600)
        inputs["timeoutSeconds"] = _seconds(work, work.get("resumeAmount", 1), unit)
    shape = Shape(named={("body",): f"{work.output}.payload"})
    return Made("flow.callback", inputs, shape, {0: "success"})


@family("stopAndError")
def stop_and_error(work: NodeWork) -> Made:
    """`flow.fail`."""
    if work.word("errorType") == "errorObject":
        raw = work.get("errorObject", "{}")
        try:
            details = work.texts.json_text(raw) if isinstance(raw, str) else work.value(raw)
        except (ValueError, RecursionError):
            details = work.value(raw)
        return Made("flow.fail", {"message": "An error occurred", "details": details}, work.shape)
    message = work.get("errorMessage", work.get("message", ""))
    return Made("flow.fail", {"message": work.text(message) or "An error occurred"}, work.shape)
