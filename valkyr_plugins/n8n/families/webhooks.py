"""Respond to Webhook: the execution's output is the answer."""

from typing import Any

from valkyr_plugins.n8n.work import Made, NodeWork, family


@family("respondToWebhook")
def respond(work: NodeWork) -> Made:
    """`flow.noop` with the answer as its value; `output` of the workflow reads it."""
    kind = work.word("respondWith", "firstIncomingItem")
    status = work.get("options.responseCode", 200)
    if status not in (200, "200"):
        work.remark("It answered with a status of its own; a success answers 200.")
    if work.get("options.responseHeaders") is not None:
        work.remark("It set headers of the answer, which cannot be set.")
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
