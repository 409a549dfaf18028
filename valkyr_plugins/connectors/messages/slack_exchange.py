"""Post to Slack through an incoming webhook, whose address is a secret, or with a bot's token."""

from typing import Any

from runners.public.modules import ErrorType, StepContext, StepError
from valkyr_plugins.connectors.conf import settings
from valkyr_plugins.connectors.messages.slack import SlackPostInputs
from valkyr_plugins.connectors.network.exchange import Answer, Call, send
from valkyr_plugins.connectors.network.request_parts import http_url, json_content
from valkyr_plugins.connectors.network.response import refused, retry_after

API_URL = "https://slack.com/api"
MAX_ANSWER = 256 * 1024
# Codes of temporary errors of chat.postMessage (api.slack.com/methods/chat.postMessage).
PASSING = frozenset(
    {
        "ratelimited",
        "rate_limited",
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
    }
)


def slack_exchange(inputs: SlackPostInputs, ctx: StepContext) -> dict[str, Any]:
    """Post the message and return `SlackPostOutputs` as a mapping. Raises StepError."""
    match ctx.credential:
        case {"webhook_url": address}:
            return _by_webhook(address, inputs, ctx)
        case {"token": _}:
            return _by_token(inputs, ctx)
    raise StepError(
        "slack.post needs a credential: of type slack (an incoming webhook) or bearer (a bot's "
        "token)"
    )


def _by_webhook(address: str, inputs: SlackPostInputs, ctx: StepContext) -> dict[str, Any]:
    if inputs.channel is not None or inputs.thread_ts is not None:
        raise StepError(
            "an incoming webhook posts to a fixed channel: remove channel and threadTs, or "
            "use a credential of type bearer"
        )
    try:
        http_url(address)
    except ValueError:
        raise StepError("the credential's webhook_url is not an http or https URL") from None
    answer = send(_call(address, _message(inputs), shown="Slack's webhook", signs_in=False), ctx)
    said = answer.body[:200].decode("utf-8", "replace").strip()
    if answer.status >= 400:
        raise refused(answer.response, answer.body, answer.name, said)
    if said != "ok":
        raise StepError(
            f"{answer.name} responded {said!r}, expected 'ok': check that it is a Slack webhook"
        )
    return {"channel": None, "ts": None}


def _by_token(inputs: SlackPostInputs, ctx: StepContext) -> dict[str, Any]:
    if inputs.channel is None:
        raise StepError("a bot token needs channel: an id or #name")
    message = {"channel": inputs.channel, **_message(inputs)}
    if inputs.thread_ts is not None:
        message["thread_ts"] = inputs.thread_ts
    base = settings().slack_api_url or API_URL
    answer = send(_call(f"{base.rstrip('/')}/chat.postMessage", message), ctx)
    if answer.status >= 400:
        raise refused(answer.response, answer.body, answer.name)
    body, _ = answer.parsed
    if not isinstance(body, dict) or body.get("ok") is not True:
        raise _failure(answer, body)
    return {"channel": body.get("channel"), "ts": body.get("ts")}


def _message(inputs: SlackPostInputs) -> dict[str, Any]:
    message: dict[str, Any] = {"unfurl_links": inputs.unfurl_links}
    if inputs.text is not None:
        message["text"] = inputs.text
    if inputs.blocks is not None:
        message["blocks"] = inputs.blocks
    return message


def _call(url: str, message: dict[str, Any], *, shown: str = "", signs_in: bool = True) -> Call:
    return Call(
        "POST",
        url,
        headers={"content-type": "application/json; charset=utf-8"},
        content=json_content(message),
        accept_status=("4xx", "5xx"),
        follow_redirects=False,
        max_bytes=MAX_ANSWER,
        signs_in=signs_in,
        keyed=False,
        shown=shown,
    )


def _failure(answer: Answer, body: Any) -> StepError:
    if not isinstance(body, dict) or not isinstance(body.get("error"), str):
        return StepError(f"{answer.name} did not respond like Slack: expected ok and error")
    code = body["error"][:100]
    passing = code in PASSING
    told = body.get("response_metadata")
    reasons = told.get("messages") if isinstance(told, dict) else None
    return StepError(
        f"Slack rejected the message: {code}",
        ErrorType.TRANSIENT if passing else ErrorType.PERMANENT,
        retry_after=retry_after(answer.response) if passing else None,
        details={"error": code, "messages": reasons},
    )
