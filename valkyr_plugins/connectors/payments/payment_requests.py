"""Send the requests of `stripe.payment_intent`, and convert the responses to outputs."""

from collections.abc import Mapping
from typing import Any

import stripe

from runners.public.modules import Result, StepContext
from valkyr_plugins.connectors.payments.payment_intent import (
    PaymentIntentInputs,
    PaymentIntentOutputs,
)
from valkyr_plugins.connectors.payments.stripe_client import Declined, connect, told
from valkyr_plugins.connectors.payments.stripe_module import given, id_of, options, plain


def pay(inputs: PaymentIntentInputs, ctx: StepContext) -> Result:
    """Perform the operation. Raises Declined for a declined card, unless the step branches."""
    client = connect(ctx)
    branches = inputs.on_decline == "branch"
    try:
        with told():
            found = _ask(client, inputs, ctx)
    except Declined as declined:
        if not branches:
            raise
        ctx.log.warning(declined.message)
        return Result(_declined(inputs, declined.details), "declined")
    return Result(_output(plain(found, "payment intent")), "accepted" if branches else "success")


def _ask(client: stripe.StripeClient, inputs: PaymentIntentInputs, ctx: StepContext) -> Any:
    intents, intent = client.v1.payment_intents, inputs.payment_intent or ""
    if inputs.operation == "retrieve":
        return intents.retrieve(intent, options=options(inputs, None))
    once = options(inputs, ctx.idempotency_key)
    if inputs.operation == "create":
        return intents.create(_created(inputs), once)
    if inputs.operation == "confirm":
        return intents.confirm(intent, given(**_method(inputs)), once)
    if inputs.operation == "capture":
        return intents.capture(intent, given(amount_to_capture=inputs.amount), once)
    return intents.cancel(intent, given(cancellation_reason=inputs.cancellation_reason), once)


def _created(inputs: PaymentIntentInputs) -> Any:
    return given(
        amount=inputs.amount,
        currency=inputs.currency,
        customer=inputs.customer,
        confirm=inputs.confirm or None,
        capture_method=inputs.capture_method,
        description=inputs.description,
        metadata=inputs.metadata,
        **_method(inputs),
    )


def _method(inputs: PaymentIntentInputs) -> dict[str, Any]:
    return {
        "payment_method": inputs.payment_method,
        "off_session": inputs.off_session or None,
        "return_url": inputs.return_url,
    }


def _output(intent: Mapping[str, Any]) -> dict[str, Any]:
    action = intent.get("next_action") or {}
    page = action.get("redirect_to_url") or {}
    failed = intent.get("last_payment_error") or {}
    return _written(
        id=intent["id"],
        status=str(intent.get("status")),
        amount=intent.get("amount") or 0,
        amount_received=intent.get("amount_received") or 0,
        currency=intent.get("currency") or "",
        customer=id_of(intent.get("customer")),
        payment_method=id_of(intent.get("payment_method")),
        charge=id_of(intent.get("latest_charge")),
        action=action.get("type"),
        action_url=page.get("url"),
        decline_code=failed.get("decline_code") or failed.get("code"),
        live=bool(intent.get("livemode")),
    )


def _declined(inputs: PaymentIntentInputs, details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs for a declined card, from the error and the inputs."""
    return _written(
        id=details.get("paymentIntent") or inputs.payment_intent or "",
        status="requires_payment_method",
        amount=inputs.amount or 0,
        currency=inputs.currency or "",
        charge=details.get("charge"),
        decline_code=details.get("declineCode") or details.get("code"),
    )


def _written(**values: Any) -> dict[str, Any]:
    return PaymentIntentOutputs(**values).model_dump(mode="json", by_alias=True)
