"""Convert nodes for messages and answers: Send Email, Slack, forms and chats."""

from typing import Any

from executions.public.templates import todo
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork, family
from valkyr_plugins.n8n.shape import one
from valkyr_plugins.n8n.texts import separated


@family("emailSend")
def email_send(work: NodeWork) -> Made:
    """Make an `email.send` task. Raises Left for a node that waits for a reply."""
    if work.word("operation", "send") == "sendAndWait":
        raise Left("it waits for a reply; use flow.approval, or email.send and flow.callback")
    inputs: dict[str, Any] = {
        "from": _needed(work, "fromEmail", "the sender"),
        "to": _needed(work, "toEmail", "the recipients", listed=True),
        "subject": work.text(work.get("subject", "")),
    }
    for ours, *theirs in (
        ("cc", "ccEmail", "options.ccEmail"),
        ("bcc", "bccEmail", "options.bccEmail"),
        ("replyTo", "options.replyTo"),
    ):
        raw = next((raw for key in theirs if (raw := work.get(key))), None)
        if raw:
            inputs[ours] = _addresses(work, raw) if ours != "replyTo" else work.text(raw)
    kind = work.word("emailFormat", "both" if work.node.version < 2 else "html")
    if kind in ("text", "both"):
        inputs["text"] = work.text(work.get("text", work.get("message", "")))
    if kind in ("html", "both") and work.get("html"):
        inputs["html"] = work.text(work.get("html"))
    if work.get("attachments") or work.get("options.attachments"):
        work.remark("It sent attachments, which email.send does not support.")
    return work.made("email.send", inputs, credential=work.credential("smtp"))


def _needed(work: NodeWork, key: str, what: str, *, listed: bool = False) -> Any:
    raw = work.get(key)
    if raw:
        return _addresses(work, raw) if listed else work.text(raw)
    work.texts.unfinished += 1
    work.remark(f"The file does not contain {what}.")
    return todo(what)


def _addresses(work: NodeWork, raw: Any) -> Any:
    if not isinstance(raw, str):
        return work.value(raw)
    found = [work.text(one) for one in separated(raw, ",;")]
    return found[0] if len(found) == 1 else found


@family("slack")
def slack(work: NodeWork) -> Made:
    """Make a `slack.post` task. Raises Left for operations other than posting a message."""
    resource, operation = work.word("resource", "message"), work.word("operation", "post")
    if resource != "message" or operation not in ("post", "create"):
        raise Left(
            f"slack.post only posts messages; this is {resource}: {operation}. Use http.request"
        )
    inputs: dict[str, Any] = {}
    text, blocks = work.get("text"), _blocks(work)
    if text:
        inputs["text"] = work.text(text)
    if blocks is not None:
        inputs["blocks"] = blocks
    if not inputs:
        work.texts.unfinished += 1
        inputs["text"] = todo("the message")
    if work.get("attachments") or work.word("messageType") == "attachment":
        work.remark("It had attachments in an old format; write them as blocks.")
    channel = work.word("channelId", work.word("channel", work.word("user")))
    if channel:
        inputs["channel"] = work.text(channel)
    else:
        work.remark(
            "The file does not name a channel; name one, unless a webhook has a fixed channel."
        )
    thread = work.get(
        "otherOptions.thread_ts.replyValues.thread_ts", work.get("otherOptions.thread_ts")
    )
    if isinstance(thread, (str, int, float)) and thread:
        inputs["threadTs"] = work.text(thread)
    credential = work.credential("bearer")
    return work.made("slack.post", inputs, one(work.output), credential=credential)


def _blocks(work: NodeWork) -> Any:
    raw = work.get("blocksUi")
    if not isinstance(raw, str) or not raw.strip("= "):
        return None
    try:
        found = work.texts.json_text(raw)
    except (ValueError, RecursionError):
        return "{{ " + work.texts.left(raw, "the blocks are not valid JSON") + " }}"
    return found.get("blocks", []) if isinstance(found, dict) else found


@family("form")
def form(work: NodeWork) -> Made:
    """Make a `flow.callback` task for a page with fields; a `flow.noop` task for the last page."""
    if work.word("operation", "page") == "completion":
        work.remark("There are no forms: your own page shows this text at the end.")
        shown = ("completionTitle", "completionMessage")
        told = {key: work.value(work.get(key)) for key in shown if work.get(key)}
        return work.made("flow.noop", {"value": told}, work.shape)
    work.remark(
        f"There are no forms: have your own page POST the fields to tasks.{work.id}.callbackUrl."
    )
    inputs = {"title": work.node.name[:200]}
    return Made("flow.callback", inputs, one(f"{work.output}.payload"), {0: "success"})


@family("chat")
def chat(work: NodeWork) -> Made:
    """Make a `flow.callback` task for a message with a reply, otherwise a `flow.noop` task."""
    message = work.value(work.get("message", ""))
    work.remark(
        "There is no chat page: have one of your own show the message"
        + (
            "" if work.get("waitUserReply") is False
            else f", and POST chatInput to tasks.{work.id}.callbackUrl"
        )
        + "."
    )  # fmt: skip
    if work.get("waitUserReply") is False:
        return work.made("flow.noop", {"value": {"message": message}}, work.shape)
    about = str(message)[:200].replace("\n", " ") or work.node.name[:200]
    inputs = {"title": about if "{{" not in about else work.node.name[:200]}
    return Made("flow.callback", inputs, one(f"{work.output}.payload"), {0: "success"})
