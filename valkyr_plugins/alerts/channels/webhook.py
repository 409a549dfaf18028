"""An alert as a signed request, in the form that our own webhooks take: it can start a workflow."""

import time
from collections.abc import Mapping
from typing import Any

from executions.public.signing import signature
from runners.public.modules import StepError
from runners.public.steps import Context
from valkyr_plugins.alerts.channels.wording import headline
from valkyr_plugins.alerts.models import AlertRule
from valkyr_plugins.connectors.network.body import read_start
from valkyr_plugins.connectors.network.content import json_content
from valkyr_plugins.connectors.network.exchange import Call, opened
from valkyr_plugins.connectors.network.failures import SHOWN_BODY_BYTES, request_name

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
