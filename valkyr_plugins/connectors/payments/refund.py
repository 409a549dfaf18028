"""`stripe.refund`: refund a payment."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from runners.public.modules import Bad, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.payments.stripe_module import (
    METADATA_HELP,
    Amount,
    ChargeId,
    Metadata,
    PaymentIntentId,
    StripeInputs,
    StripeModule,
    given,
    id_of,
    options,
    plain,
)


class RefundInputs(StripeInputs):
    """The payment and the amount to refund."""

    payment_intent: PaymentIntentId | None = Field(
        None,
        description="The payment to refund, unless you set `charge`.",
        examples=["{{ tasks.pay.output.id }}"],
    )
    charge: ChargeId | None = Field(None, description="The charge to refund.")
    amount: Amount | None = Field(
        None,
        description="The amount in the currency's smallest unit; by default, the rest of the "
        "payment.",
        examples=[500],
    )
    reason: Literal["duplicate", "fraudulent", "requested_by_customer"] | None = Field(
        None, description="The reason for the refund; `fraudulent` helps Stripe detect fraud."
    )
    metadata: Metadata = Field(default_factory=dict, description=METADATA_HELP)

    @model_validator(mode="after")
    def _one_payment(self) -> "RefundInputs":
        if (self.payment_intent is None) == (self.charge is None):
            raise ValueError("set either paymentIntent or charge")
        return self


class RefundOutputs(ModuleOutputs):
    """The refund at Stripe."""

    id: str = Field(description="The refund's id.", examples=["re_1Nispe2eZvKYlo2Cd31jOCgZ"])
    status: str = Field(
        description="`succeeded`, `pending`, `requires_action`, `failed` or `canceled`."
    )
    amount: int = Field(description="The amount in the currency's smallest unit.")
    currency: str = Field(description="The ISO 4217 code, in lower case.")
    payment_intent: str | None = Field(None, description="The payment to which the refund belongs.")
    charge: str | None = Field(None, description="The charge to which the refund belongs.")
    failure_reason: str | None = Field(None, description="The reason, if the refund failed.")


class Refund(StripeModule[RefundInputs]):
    """Refunds a payment at Stripe, in full or in part.

    Each attempt sends the same idempotency key. Stripe keeps the key for at least 24 hours, so
    repeated attempts within that time refund the money only once. If the amount exceeds the
    unrefunded part of the payment, Stripe rejects the refund, and the step fails permanently.
    """

    type = "stripe.refund"
    title = "Stripe refund"
    Inputs = RefundInputs
    Outputs: ClassVar[Any] = RefundOutputs
    example: ClassVar[Mapping[str, Any]] = {
        "paymentIntent": "{{ input.payment }}",
        "amount": 500,
        "reason": "requested_by_customer",
    }
    bad_inputs = (
        Bad("no payment or charge", {"amount": 5}, "set either paymentIntent or charge"),
        Bad(
            "a payment and a charge",
            {"paymentIntent": "pi_1", "charge": "ch_1"},
            "set either paymentIntent or charge",
        ),
        Bad("a negative amount", {"charge": "ch_1", "amount": -5}, "amount: Input should be"),
        Bad(
            "an id of another object",
            {"paymentIntent": "cus_1"},
            "paymentIntent: expected an id that begins with pi_",
        ),
        Bad("no credential", {"charge": "ch_1"}, "this step has no credential"),
    )

    def execute(self, inputs: RefundInputs, ctx: StepContext) -> Result:
        # Imported here because stripe is slow to load and most workers never refund.
        from valkyr_plugins.connectors.payments.stripe_client import connect, told

        client = connect(ctx)
        params = given(
            payment_intent=inputs.payment_intent,
            charge=inputs.charge,
            amount=inputs.amount,
            reason=inputs.reason,
            metadata=inputs.metadata,
        )
        with told():
            found = client.v1.refunds.create(params, options(inputs, ctx.idempotency_key))
        return Result(_output(plain(found, "refund")))


def _output(refund: Mapping[str, Any]) -> dict[str, Any]:
    return RefundOutputs(
        id=refund["id"],
        status=str(refund.get("status")),
        amount=refund.get("amount") or 0,
        currency=refund.get("currency") or "",
        payment_intent=id_of(refund.get("payment_intent")),
        charge=id_of(refund.get("charge")),
        failure_reason=refund.get("failure_reason"),
    ).model_dump(mode="json", by_alias=True)
