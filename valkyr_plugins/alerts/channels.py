"""Send a message by email, to Slack or to a webhook, and render its text."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.public.signing import signature
from runners.public.modules import StepError
from runners.public.secrets import Scrubber, scrubbed_logs
from runners.public.steps import Context
from valkyr_plugins.alerts.conf import config
from valkyr_plugins.alerts.decisions import clipped
from valkyr_plugins.alerts.models import AlertChannel, AlertRule
from valkyr_plugins.connectors.mail.send import EmailSend, EmailSendInputs
from valkyr_plugins.connectors.messages.slack import SlackPostInputs
from valkyr_plugins.connectors.messages.slack_exchange import slack_exchange
from valkyr_plugins.connectors.network.exchange import Call, opened
from valkyr_plugins.connectors.network.request_parts import json_content
from valkyr_plugins.connectors.network.response import SHOWN_BODY_BYTES, read_start, request_name

# Send an alert as a signed request in the form that Valkyr's own webhooks accept, so that it can
# start a workflow.


HEADER = "x-valkyr-signature"


def send_webhook(rule: AlertRule, message: Mapping[str, Any], ctx: Context) -> int | None:
    """Post the signed message; return the status of the response.

    Raises StepError unless the status is 200 to 299.
    """
    content = json_content({"id": ctx.idempotency_key, "headline": headline(message), **message})
    secret = (ctx.credential or {}).get("secret", "")
    call = Call(
        "POST",
        rule.url,
        headers={
            "content-type": "application/json",
            HEADER: signature.header(secret, int(time.time()), content["content"]),
        },
        content=content,
        follow_redirects=False,
        signs_in=False,
        keyed=True,
    )
    with opened(call, ctx) as response:
        if not 200 <= response.status_code < 300:
            raise StepError(
                f"{request_name(response.request)} answered {response.status_code}: Valkyr does "
                "not follow redirects. Enter the receiver's current address",
                details={"status": response.status_code},
            )
        read_start(response, SHOWN_BODY_BYTES)
        return response.status_code


# Send an alert to Slack through an incoming webhook.


LONGEST = 30_000
# The characters with which a link, a mention or an entity begins in Slack
# (api.slack.com/reference).
ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def send_slack(rule: AlertRule, message: Mapping[str, Any], ctx: Context) -> int | None:
    """Post the message to Slack and return 200. Raises StepError if Slack does not accept it."""
    said = [_line(text, link) for text, link in lines(message)]
    body = "\n".join([f"*{_plain(headline(message))}*", *said, f"_{_plain(footer(message))}_"])
    slack_exchange(SlackPostInputs(text=body[:LONGEST], unfurlLinks=False), ctx)
    return 200


def _line(text: str, link: str) -> str:
    return f"• {_plain(text)}" + (f" <{link.translate(ESCAPES)}|Open>" if link else "")


def _plain(text: str) -> str:
    """Escape Slack's markup in a string, so that an error's text cannot mention users."""
    return text.translate(ESCAPES)


# Send an alert as a plain-text email, with the same Message-ID in every attempt.


# Time limit of each SMTP operation, in seconds: 20 recipients take about 2 min.
SECONDS = 5.0


def send_mail(rule: AlertRule, message: Mapping[str, Any], ctx: Context) -> int | None:
    """Send the message by email; return None.

    Raises StepError if sending fails or every recipient is rejected.
    """
    text = [f"{said}\n{link}".strip() for said, link in lines(message)]
    inputs = EmailSendInputs.model_validate(
        {
            "from": config().sender,
            "to": list(rule.recipients),
            "subject": headline(message),
            "text": "\n\n".join([*text, f"-- \n{footer(message)}\n"]),
        }
    )
    answer: Any = EmailSend().execute(inputs, ctx).outputs
    if not answer["accepted"]:
        raise StepError(f"the mail server refused every recipient: {answer['refused']}")
    return None


# Make one attempt to send one message. No query runs, so an attempt may take long.


SENDERS: Mapping[str, Callable[[AlertRule, Mapping[str, Any], Context], int | None]] = {
    AlertChannel.EMAIL: send_mail,
    AlertChannel.SLACK: send_slack,
    AlertChannel.WEBHOOK: send_webhook,
}
SAID = 1_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of sending a message; `answer` is the HTTP status, if any.

    If `error` is empty, the receiver accepted the message.
    """

    error: str
    answer: int | None
    milliseconds: int
    retry_after: float | None = None


def attempt(
    rule: AlertRule,
    credential: Mapping[str, str] | None,
    message: Mapping[str, Any],
    delivery_id: UUID,
) -> Outcome:
    """Send the message once; the time limit depends on the channel.

    Return the outcome, including any error; secrets in the error's text are replaced.
    """
    scrubber = Scrubber(dict.fromkeys((credential or {}).values(), "(secret)"))
    ctx = Context(
        execution_id=delivery_id,
        step_path="alert",
        attempt=1,
        idempotency_key=str(delivery_id),
        seconds=SECONDS if rule.channel == AlertChannel.EMAIL else config().send,
        variables={},
    )
    ctx.reveal(credential, scrubber)
    began = time.monotonic()
    error, answer, retry_after = "", None, None
    with scrubbed_logs(scrubber):
        try:
            answer = SENDERS[rule.channel](rule, message, ctx)
        except StepError as failure:
            error, retry_after = failure.message, failure.retry_after
            details = failure.details if isinstance(failure.details, dict) else {}
            answer = details.get("status")
        # A receiver may cause any error, which must not prevent the other messages.
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"
    took = round(1000 * (time.monotonic() - began))
    return Outcome(clipped(scrubber.message(error), SAID), answer, took, retry_after)


# Write a message in words. Pure. Third-party text becomes one line without control characters.


SUBJECT = 180


def headline(message: Mapping[str, Any]) -> str:
    """Return one line: the alert's text, the number of alerts, or the tested rule's name."""
    alerts = message["alerts"]
    place = f"[{message['workspace']}] " if message["workspace"] else ""
    if message["reason"] == "TEST":
        return clipped(f"{place}Test of the alert rule {message['rule']['name']}", SUBJECT)
    many = len(alerts) + message["more"]
    if many > 1:
        said = f"{many:,} alerts" if message["reason"] != "OVER" else f"{many:,} alerts have ended"
        return clipped(f"{place}{said}: {message['rule']['name']}", SUBJECT)
    said = {"OVER": "Over: ", "AGAIN": "Still: "}.get(message["reason"], "")
    return clipped(f"{place}{said}{alerts[0]['sentence']}", SUBJECT)


def lines(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the message's lines of text, each with its link, or "" if there is no link."""
    if message["reason"] == "TEST":
        return [("This is a test. Alerts of this rule arrive here.", message["link"])]
    said = [(_said(message["reason"], alert), alert["link"]) for alert in message["alerts"]]
    if message["more"]:
        said.append((f"And {message['more']:,} more.", ""))
    return said


def footer(message: Mapping[str, Any]) -> str:
    """Return the message's last line: the names of the rule and of its workspace, if any."""
    where = f"workspace {message['workspace']}" if message["workspace"] else "this installation"
    return clipped(f"Sent by Valkyr's alert rule {message['rule']['name']!r} of {where}.", 300)


def _said(reason: str, alert: Mapping[str, Any]) -> str:
    text = clipped(alert["sentence"], 700)
    if reason == "OVER":
        return f"Over: {text}"
    return f"{text} (noticed {alert['count']:,} times)" if alert["count"] > 1 else text
