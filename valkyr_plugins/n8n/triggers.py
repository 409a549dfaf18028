"""Convert triggers, and describe their payload for the nodes after them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from valkyr_plugins.n8n.export import Node
from valkyr_plugins.n8n.expressions import methods
from valkyr_plugins.n8n.mapping import Left, below
from valkyr_plugins.n8n.shape import Keys, Shape, one

ANSWER_SECONDS = 30
# Trigger kinds whose names do not end in "Trigger".
TRIGGERS = frozenset({"webhook", "cron", "interval", "start", "emailReadImap"})
NO_TRIGGERS = frozenset({"respondToWebhook"})
# Triggers whose event n8n passes on inside `body`, and those whose event it passes on unchanged.
IN_BODY = frozenset({"githubTrigger", "gitlabTrigger", "bitbucketTrigger", "giteaTrigger"})
AS_SENT = frozenset(
    {"telegramTrigger", "stripeTrigger", "shopifyTrigger", "wooCommerceTrigger", "calTrigger",
     "calendlyTrigger", "jiraTrigger", "trelloTrigger", "linearTrigger", "slackTrigger"}
)  # fmt: skip
# Triggers that n8n polls periodically.
POLLS = frozenset(
    {"gmailTrigger", "googleDriveTrigger", "googleSheetsTrigger", "googleCalendarTrigger",
     "rssFeedReadTrigger", "airtableTrigger", "notionTrigger", "emailReadImap",
     "microsoftOutlookTrigger", "microsoftOneDriveTrigger", "salesforceTrigger",
     "googleBusinessProfileTrigger", "postgresTrigger", "localFileTrigger"}
)  # fmt: skip
UNHEARD = {
    "n8nTrigger": "it reports changes of n8n itself",
    "workflowTrigger": "it reports changes of the workflow itself",
    "evaluationTrigger": "it reads the rows of an evaluation; use a test of the studio",
}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
ERROR_NAMES: dict[Keys, str] = {
    ("execution", "id"): "input.execution.id",
    ("execution", "error", "message"): "input.execution.error.message",
    ("execution", "lastNodeExecuted"): "input.execution.error.step",
    ("workflow", "name"): "input.execution.workflow",
}


@dataclass(frozen=True, slots=True)
class ImportedTriggers:
    """The triggers made from a node, the shape of the node's output, and remarks for the user."""

    triggers: list[dict[str, Any]]
    shape: Shape
    remarks: list[str] = field(default_factory=list)
    module: str = ""


def is_trigger(node: Node) -> bool:
    """Return whether a node starts the workflow."""
    return node.kind in TRIGGERS or node.kind.lower().endswith("trigger")


def started(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    """Convert a trigger node. Raises Left for events or times that have no equivalent here."""
    if node.kind in UNHEARD:
        raise Left(f"nothing here listens to {node.type}: {UNHEARD[node.kind]}")
    return MAKERS.get(node.kind, _event)(node, settings)


def _manual(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    return ImportedTriggers([], one("input"), [], "by hand")


def _called(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    return ImportedTriggers([], one("input"), [], "flow.subworkflow")


def _error(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    remark = (
        "Name this workflow in settings.onFailure of the workflows whose failures it should report."
    )
    why = "an error workflow's payload has an execution with id, workflow, error and input"
    return ImportedTriggers([], Shape(named=ERROR_NAMES, why=why), [remark], "settings.onFailure")


def _event(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    """Convert an app's trigger into a webhook, to which the app's events must be delivered."""
    name = _CAMEL.sub(" ", node.kind.removesuffix("Trigger")).strip()
    name = "mailbox" if node.kind == "emailReadImap" else name[:1].upper() + name[1:]
    nested = node.kind in IN_BODY
    how = (
        f"Nothing here asks {name} by the clock: have your own script, or the service's "
        "notifications, POST each new item to the webhook"
        if node.kind in POLLS or "pollTimes" in node.parameters
        else f"Have {name} call the webhook, through a proxy that adds the token if it cannot send "
        "one"
    )
    form = "the event as the service sends it" if nested or node.kind in AS_SENT else (
        "the object that n8n's node handed on, whose fields the tasks read"
    )  # fmt: skip
    remarks = [f"{how}; the workflow does not start by itself. `input` must be {form}."]
    why = "of an event the body alone is the payload"
    shape = Shape(named={("body",): "input"}, why=why) if nested else one("input")
    return ImportedTriggers([{"type": "WEBHOOK", "auth": "bearer"}], shape, remarks, "WEBHOOK")


def _webhook(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    trigger: dict[str, Any] = {"type": "WEBHOOK", "auth": "bearer"}
    remarks = ["Callers send a bearer token, or sign (auth: hmac); the address is a new one."]
    if node.parameters.get("responseMode") in ("lastNode", "responseNode"):
        trigger |= {"respond": "result", "timeoutSeconds": ANSWER_SECONDS}
    if str(node.parameters.get("httpMethod", "GET")).upper() != "POST":
        remarks.append("It was not called with POST; Valkyr's webhooks are.")
    why = "only the body of a webhook's request is the payload, not its headers and query"
    shape = Shape(named={("body",): "input"}, why=why)
    return ImportedTriggers([trigger], shape, remarks, "WEBHOOK")


def _mcp(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    trigger = {
        "type": "WEBHOOK", "auth": "bearer", "respond": "result", "timeoutSeconds": ANSWER_SECONDS,
    }  # fmt: skip
    return ImportedTriggers([trigger], one("input"), [], "WEBHOOK")


def _form(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    remark = "There are no forms: send the fields to the webhook from your own page."
    return ImportedTriggers(
        [{"type": "WEBHOOK", "auth": "bearer"}], one("input"), [remark], "WEBHOOK"
    )


def _chat(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    remark = (
        "There is no chat page: send chatInput and sessionId to the webhook from your own "
        "page; with respond: result, the page gets the answer."
    )
    return ImportedTriggers(
        [{"type": "WEBHOOK", "auth": "bearer"}], one("input"), [remark], "WEBHOOK"
    )


def _schedule(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    rules = below(node.parameters, "rule.interval")
    if node.kind == "cron":
        rules = below(node.parameters, "triggerTimes.item")
    rules = [one for one in rules if isinstance(one, dict)] if isinstance(rules, list) else [{}]
    write = _old_cron if node.kind == "cron" else _cron
    remarks: list[str] = []
    triggers = []
    for rule in rules[:20] or [{}]:
        schedule, remark = write(rule)
        remarks += [remark] if remark else []
        triggers.append({"type": "CRON", "schedule": schedule, **_zone(settings)})
    shape = Shape(named={("timestamp",): methods.STARTED}, why="a schedule passes on no data")
    return ImportedTriggers(triggers, shape, remarks, "CRON")


def _interval(node: Node, settings: Mapping[str, Any]) -> ImportedTriggers:
    unit = str(node.parameters.get("unit", "seconds"))
    rule = {"field": unit, f"{unit}Interval": node.parameters.get("interval", 1)}
    schedule, remark = _cron(rule)
    trigger = {"type": "CRON", "schedule": schedule, **_zone(settings)}
    shape = Shape(why="a schedule passes on no data")
    return ImportedTriggers([trigger], shape, [remark] if remark else [], "CRON")


def _zone(settings: Mapping[str, Any]) -> dict[str, str]:
    zone = settings.get("timezone")
    known = isinstance(zone, str) and zone not in ("", "DEFAULT") and len(zone) <= 100
    return {"timezone": str(zone)} if known else {}


def _number(rule: Mapping[str, Any], key: str, default: int, most: int, least: int = 0) -> int:
    found = rule.get(key, default)
    try:
        return min(max(int(found), least), most)
    except (TypeError, ValueError, OverflowError):
        return default


def _every(count: int) -> str:
    return "*" if count == 1 else f"*/{count}"


def _cron(rule: Mapping[str, Any]) -> tuple[str, str]:
    """Return the five cron fields of a schedule's rule, and a remark about differences.

    Raises Left for a cron expression that cannot be read.
    """
    kind = str(rule.get("field", "days"))
    minute, hour = _number(rule, "triggerAtMinute", 0, 59), _number(rule, "triggerAtHour", 0, 23)
    if kind == "cronExpression":
        return _five(str(rule.get("expression", "")))
    if kind in ("seconds", "minutes", "hours"):
        return _often(rule, kind, minute)
    if kind == "weeks":
        days = rule.get("triggerAtDay", [0])
        known = (
            [str(d) for d in days if isinstance(d, int) and 0 <= d <= 6]
            if isinstance(days, list)
            else []
        )
        several = _number(rule, "weeksInterval", 1, 52, 1) > 1
        remark = "It started every few weeks; here it starts every week." if several else ""
        return f"{minute} {hour} * * {','.join(known) or '0'}", remark
    if kind == "months":
        day = _number(rule, "triggerAtDayOfMonth", 1, 31, 1)
        months = _every(_number(rule, "monthsInterval", 1, 12, 1))
        return f"{minute} {hour} {day} {months} *", ""
    days_apart = _number(rule, "daysInterval", 1, 31, 1)
    remark = "Here, an interval of several days restarts each month." if days_apart > 1 else ""
    return f"{minute} {hour} {_every(days_apart)} * *", remark


def _often(rule: Mapping[str, Any], kind: str, minute: int) -> tuple[str, str]:
    """Return the cron fields of a rule that fires several times per day, and a remark."""
    if kind == "seconds":
        return "* * * * *", "It started every few seconds; a minute is the shortest time here."
    if kind == "minutes":
        return f"{_every(_number(rule, 'minutesInterval', 5, 59, 1))} * * * *", ""
    return f"{minute} {_every(_number(rule, 'hoursInterval', 1, 23, 1))} * * *", ""


def _old_cron(rule: Mapping[str, Any]) -> tuple[str, str]:
    """Return the five cron fields of a Cron node's rule, and a remark. Raises Left."""
    mode = rule.get("mode", "everyDay")
    minute, hour = _number(rule, "minute", 0, 59), _number(rule, "hour", 14, 23)
    if mode == "custom":
        return _five(str(rule.get("cronExpression", "")))
    if mode == "everyX":
        unit = str(rule.get("unit", "hours"))
        return _cron({"field": unit, f"{unit}Interval": rule.get("value", 2)})
    return {
        "everyMinute": "* * * * *",
        "everyHour": f"{minute} * * * *",
        "everyWeek": f"{minute} {hour} * * {_number(rule, 'weekday', 1, 6)}",
        "everyMonth": f"{minute} {hour} {_number(rule, 'dayOfMonth', 1, 31, 1)} * *",
    }.get(str(mode), f"{minute} {hour} * * *"), ""


def _five(expression: str) -> tuple[str, str]:
    """Return the five fields of a cron expression, without leading seconds, and a remark.

    Raises Left for an expression that cannot be read.
    """
    fields = expression.removeprefix("=").split()
    if len(fields) == 6:
        return " ".join(fields[1:]), "It used seconds; times are whole minutes here."
    if len(fields) != 5 or "{{" in expression:
        raise Left("its times do not form a cron expression of five fields; write a CRON trigger")
    return " ".join(fields), ""


MAKERS: dict[str, Callable[[Node, Mapping[str, Any]], ImportedTriggers]] = {
    "manualTrigger": _manual,
    "start": _manual,
    "executeWorkflowTrigger": _called,
    "errorTrigger": _error,
    "webhook": _webhook,
    "formTrigger": _form,
    "chatTrigger": _chat,
    "manualChatTrigger": _chat,
    "mcpTrigger": _mcp,
    "scheduleTrigger": _schedule,
    "cron": _schedule,
    "interval": _interval,
}
