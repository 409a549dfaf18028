"""An alert as a signed request, in the form that our own webhooks take: it can start a workflow."""

import time
from collections.abc import Mapping
from typing import Any

from dlq.alerts.channels.wording import headline
from dlq.models import AlertRule
from executions.triggers import signature
from runners.modules.base import StepError
from runners.modules.network.body import read_start
from runners.modules.network.content import json_content
from runners.modules.network.exchange import Call, opened
from runners.modules.network.failures import SHOWN_BODY_BYTES, request_name
from runners.segment.step_context import Context

HEADER = "x-valkyr-signature"


def send_webhook(rule: AlertRule, message: Mapping[str, Any], ctx: Context) -> int | None:
    """Post it, signed; the status of the answer. Raises StepError for any but 200 to 299."""
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
                f"{request_name(response.request)} answered {response.status_code}: redirects are "
                "not followed, so give the receiver's present address",
                details={"status": response.status_code},
            )
        read_start(response, SHOWN_BODY_BYTES)
        return response.status_code
