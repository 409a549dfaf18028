"""Convert pages that people see, n8n's forms and chats, into `flow.callback`."""

from valkyr_plugins.n8n.mapping import Made, NodeWork, family
from valkyr_plugins.n8n.shape import one


@family("form")
def form(work: NodeWork) -> Made:
    """Make `flow.callback` for a page of fields, and a value for the last page."""
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
    """Make `flow.callback` for an answer, or a value for a message."""
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
