"""One attempt to send one message; no database in here, so that it may take its time."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runners.public.modules import StepError
from runners.public.secrets import Scrubber, scrubbed_logs
from runners.public.steps import Context
from valkyr_plugins.alerts.channels.mail import SECONDS, send_mail
from valkyr_plugins.alerts.channels.slack import send_slack
from valkyr_plugins.alerts.channels.webhook import send_webhook
from valkyr_plugins.alerts.clipping import clipped
from valkyr_plugins.alerts.conf import config
from valkyr_plugins.alerts.models import AlertChannel, AlertRule

SENDERS: Mapping[str, Callable[[AlertRule, Mapping[str, Any], Context], int | None]] = {
    AlertChannel.EMAIL: send_mail,
    AlertChannel.SLACK: send_slack,
    AlertChannel.WEBHOOK: send_webhook,
}
SAID = 1_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: `answer` is the HTTP status, where there was one; no error: it was taken."""

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
    """Send it once, within the time-out; what fails is an outcome, in words without the secret."""
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
        # Whatever a receiver provokes, the other messages go on.
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"
    took = round(1000 * (time.monotonic() - began))
    return Outcome(clipped(scrubber.message(error), SAID), answer, took, retry_after)
