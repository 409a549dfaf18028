"""An alert as a message in Slack, by an incoming webhook."""

from collections.abc import Mapping
from typing import Any

from runners.public.steps import Context
from valkyr_plugins.alerts.channels.wording import footer, headline, lines
from valkyr_plugins.alerts.models import AlertRule
from valkyr_plugins.connectors.messages.slack import SlackPostInputs
from valkyr_plugins.connectors.messages.slack_exchange import slack_exchange

LONGEST = 30_000
# What Slack reads as the beginning of a link, a mention or an entity (api.slack.com/reference).
ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def send_slack(rule: AlertRule, message: Mapping[str, Any], ctx: Context) -> int | None:
    """Post it; raises StepError."""
    said = [_line(text, link) for text, link in lines(message)]
    body = "\n".join([f"*{_plain(headline(message))}*", *said, f"_{_plain(footer(message))}_"])
    slack_exchange(SlackPostInputs(text=body[:LONGEST], unfurlLinks=False), ctx)
    return 200


def _line(text: str, link: str) -> str:
    return f"• {_plain(text)}" + (f" <{link.translate(ESCAPES)}|Open>" if link else "")


def _plain(text: str) -> str:
    """The text without Slack's markup: nobody is mentioned by a failure's message."""
    return text.translate(ESCAPES)
