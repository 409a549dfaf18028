from typing import Annotated, Any

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from valkyr import first_of, modules, outcome, when, workflow


class Payment(BaseModel, alias_generator=to_camel):
    order_id: str
    cents: Annotated[int, Field(ge=50)]
    payment_method: str  # an id that Stripe gave the shop's page, never a number


@workflow
def pay_by_card(payment: Payment) -> Any:
    """Collect a payment by card; a declined card is an answer, not a failure."""
    order = payment.order_id
    pay = modules.stripe.payment_intent.options(credential="stripe_key")(
        amount=payment.cents,
        currency="eur",
        paymentMethod=payment.payment_method,
        confirm=True,
        metadata={"orderId": order},
        onDecline="branch",
    )
    with when(outcome(pay) == "accepted"):
        thank = modules.data.template(text=f"{order}: {pay.amount} cents {pay.status}")
    with when(outcome(pay) == "declined"):
        ask_again = modules.data.template.options(id="ask-again")(
            text=f"{order}: please try another card ({pay.declineCode})"
        )
    return first_of(thank, ask_again).text
