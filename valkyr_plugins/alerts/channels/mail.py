"""An alert as a mail: plain text, the same Message-ID for every attempt."""

from collections.abc import Mapping
from typing import Any

from runners.public.modules import StepError
from runners.public.steps import Context
from valkyr_plugins.alerts.channels.wording import footer, headline, lines
from valkyr_plugins.alerts.conf import config
from valkyr_plugins.alerts.models import AlertRule
from valkyr_plugins.connectors.mail.send import EmailSend, EmailSendInputs

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
