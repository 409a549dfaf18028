"""`stripe.payment_intent`: collect a payment, in one step or in several."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from executions.public.definitions import OutcomeRule
from runners.public.modules import Bad, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.payments.stripe_module import (
    METADATA_HELP,
    Amount,
    Currency,
    CustomerId,
    Metadata,
    PaymentIntentId,
    PaymentMethodId,
    StripeInputs,
    StripeModule,
)

Operation = Literal["create", "confirm", "capture", "cancel", "retrieve"]
CREATING = ("currency", "customer", "description", "confirm", "capture_method", "metadata")
# The inputs of each operation in addition to the common ones.
TAKES: Mapping[str, frozenset[str]] = {
    "create": frozenset({"amount", "payment_method", "return_url", "off_session", *CREATING}),
    "confirm": frozenset({"payment_intent", "payment_method", "return_url", "off_session"}),
    "capture": frozenset({"payment_intent", "amount"}),
    "cancel": frozenset({"payment_intent", "cancellation_reason"}),
    "retrieve": frozenset({"payment_intent"}),
}
ALWAYS = frozenset({"operation", "stripe_account", "on_decline"})


class PaymentIntentInputs(StripeInputs):
    """The operation, and the payment to which it applies."""

    operation: Operation = Field(
        "create",
        description=(
            "`create` creates a payment, `confirm` confirms a created payment, `capture` collects "
            "the money of an authorised payment, `cancel` cancels a payment, and `retrieve` reads "
            "a payment."
        ),
    )
    payment_intent: PaymentIntentId | None = Field(
        None,
        description="The payment's id; required by every operation except `create`.",
        examples=["{{ tasks.pay.output.id }}"],
    )
    amount: Amount | None = Field(
        None,
        description=(
            "The amount in the currency's smallest unit: 1250 is 12.50 EUR, or 1250 JPY. "
            "Required by `create`; for `capture`, how much of the authorised amount to collect "
            "(by default all of it)."
        ),
        examples=[1250],
    )
    currency: Currency | None = Field(
        None,
        description="The ISO 4217 code, in lower case; required by `create`.",
        examples=["eur"],
    )
    customer: CustomerId | None = Field(
        None,
        description="The id of the paying customer at Stripe.",
        examples=["cus_NffrFeUfNV2Hib"],
    )
    payment_method: PaymentMethodId | None = Field(
        None,
        description="The id of the payment method at Stripe, never the card's number.",
        examples=["pm_card_visa"],
    )
    confirm: bool = Field(False, description="`create`: confirm the payment immediately.")
    off_session: bool = Field(
        False, description="Whether the customer is absent and cannot answer the bank's questions."
    )
    return_url: str | None = Field(
        None,
        max_length=5_000,
        description="The URL to which the customer returns from the bank's page. Without "
        "`offSession`, Stripe usually requires this URL when a payment is confirmed.",
        examples=["https://shop.example.com/orders/17"],
    )
    capture_method: Literal["automatic", "automatic_async", "manual"] | None = Field(
        None,
        description="`manual`: a later step captures the money. If you omit `captureMethod`, "
        "Stripe's default applies.",
    )
    description: str | None = Field(
        None,
        max_length=1_000,
        description="A text to show in Stripe's Dashboard.",
        examples=["ORD-17"],
    )
    metadata: Metadata = Field(
        default_factory=dict, description=METADATA_HELP, examples=[{"orderId": "ORD-17"}]
    )
    cancellation_reason: (
        Literal["duplicate", "fraudulent", "requested_by_customer", "abandoned"] | None
    ) = Field(None, description="`cancel`: the reason.")
    on_decline: Literal["fail", "branch"] = Field(
        "fail",
        description=(
            "The effect of a declined card: `fail` fails the step permanently (the task's "
            "error edge, or a dead letter); `branch` gives the task the outcomes "
            "`accepted` and `declined`."
        ),
    )

    @model_validator(mode="after")
    def _fit_the_operation(self) -> "PaymentIntentInputs":
        extra = sorted(
            name
            for name in self.model_fields_set - TAKES[self.operation] - ALWAYS
            if getattr(self, name) not in (None, False, {})
        )
        if extra:
            names = ", ".join(str(type(self).model_fields[name].alias) for name in extra)
            raise ValueError(f"the operation {self.operation} takes no {names}")
        if self.operation == "create" and (self.amount is None or self.currency is None):
            raise ValueError("the operation create needs amount and currency")
        if self.operation != "create" and self.payment_intent is None:
            raise ValueError(f"the operation {self.operation} needs paymentIntent")
        if self.off_session and self.operation == "create" and not self.confirm:
            raise ValueError("offSession needs confirm: true")
        return self


class PaymentIntentOutputs(ModuleOutputs):
    """The payment's current state."""

    id: str = Field(description="The payment's id.", examples=["pi_3MtwBwLkdIwHu7ix28a3tqPa"])
    status: str = Field(
        description=(
            "Stripe's status: `succeeded`, `processing`, `requires_payment_method`, "
            "`requires_confirmation`, `requires_action`, `requires_capture` or `canceled`."
        )
    )
    amount: int = Field(description="The amount in the currency's smallest unit.")
    amount_received: int = Field(
        0, description="The amount collected so far, in the currency's smallest unit."
    )
    currency: str = Field(description="The ISO 4217 code, in lower case.")
    customer: str | None = Field(None, description="The id of the paying customer.")
    payment_method: str | None = Field(None, description="The id of the payment method.")
    charge: str | None = Field(None, description="The id of the latest charge.")
    action: str | None = Field(
        None, description="The customer's next action, if the status is `requires_action`."
    )
    action_url: str | None = Field(None, description="The page for that action, if there is one.")
    decline_code: str | None = Field(
        None, description="Why the card was declined, such as `insufficient_funds`."
    )
    live: bool = Field(False, description="Whether the payment moves real money.")


class PaymentIntent(StripeModule[PaymentIntentInputs]):
    """Creates, confirms, captures, cancels or reads a payment at Stripe.

    Each attempt sends the same idempotency key. Stripe keeps the key for at least 24 hours, so
    repeated attempts within that time make only one payment. If the customer must authenticate the
    payment, the step succeeds with the status `requires_action`; use an event or a webhook to
    continue. With `offSession`, Stripe declines such a payment instead. A declined card fails the
    step permanently or, with `onDecline: branch`, leads to the outcome `declined`. Stripe's client
    secret is not part of the output; your own server can fetch it with the payment's ID.
    """

    type = "stripe.payment_intent"
    title = "Stripe payment"
    Inputs = PaymentIntentInputs
    Outputs: ClassVar[Any] = PaymentIntentOutputs
    outcomes_from: ClassVar[tuple[OutcomeRule, ...]] = (
        OutcomeRule("onDecline", "equals", ("accepted", "declined"), equals="branch"),
    )
    example: ClassVar[Mapping[str, Any]] = {
        "amount": "{{ input.cents }}",
        "currency": "eur",
        "paymentMethod": "{{ input.paymentMethod }}",
        "confirm": True,
        "offSession": True,
        "metadata": {"orderId": "{{ input.orderId }}"},
    }
    bad_inputs = (
        Bad(
            "an amount in whole units",
            {"amount": 12.5, "currency": "eur"},
            "amount: Input should be a valid integer",
        ),
        Bad("an amount as text", {"amount": "12.50", "currency": "eur"}, "amount: Input should be"),
        Bad(
            "an amount of 0",
            {"amount": 0, "currency": "eur"},
            "amount: Input should be greater than or equal to 1",
        ),
        Bad(
            "a currency sign",
            {"amount": 1250, "currency": "€"},
            "currency: expected three lower-case letters of ISO 4217",
        ),
        Bad(
            "a card number as a payment method",
            {"amount": 1250, "currency": "eur", "paymentMethod": "4242424242424242"},
            "paymentMethod: expected an id that begins with pm_",
        ),
        Bad(
            "an id with a path",
            {"operation": "capture", "paymentIntent": "pi_1/../../charges"},
            "paymentIntent: expected an id that begins with pi_",
        ),
        Bad(
            "a metadata value that is too long",
            {"amount": 1, "currency": "eur", "metadata": {"note": "x" * 501}},
            "metadata: Stripe accepts up to 50 entries",
        ),
        Bad(
            "inputs of another operation",
            {"operation": "cancel", "paymentIntent": "pi_1", "amount": 5},
            "the operation cancel takes no amount",
        ),
        Bad(
            "no credential",
            {"amount": 1250, "currency": "eur"},
            "this step has no credential",
        ),
    )

    def execute(self, inputs: PaymentIntentInputs, ctx: StepContext) -> Result:
        # Imported here because stripe is slow to load and most workers never send a payment.
        from valkyr_plugins.connectors.payments.payment_requests import pay

        return pay(inputs, ctx)
