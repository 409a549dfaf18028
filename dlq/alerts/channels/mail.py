"""An alert as a mail: plain text, the same Message-ID for every attempt."""

from collections.abc import Mapping
from typing import Any

from dlq.alerts.channels.wording import footer, headline, lines
from dlq.alerts.conf import config
from dlq.models import AlertRule
from runners.modules.base import StepError
from runners.modules.mail.send import EmailSend, EmailSendInputs
from runners.segment.step_context import Context

# Each of the exchange's operations takes at most so long: twenty recipients are two minutes.
SECONDS = 5.0


def send_mail(rule: AlertRule, message: Mapping[str, Any], ctx: Context) -> int | None:
    """Hand it to the mail server; raises StepError where it takes it for nobody."""
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
