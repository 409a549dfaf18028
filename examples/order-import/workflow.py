from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from valkyr import (
    chain,
    choose,
    error,
    failed,
    filters,
    modules,
    succeeded,
    variables,
    when,
    workflow,
)


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)


class Line(Strict):
    sku: str
    quantity: Annotated[int, Field(ge=1)]
    price: Annotated[float, Field(ge=0)]


class Order(Strict):
    order_id: Annotated[str, Field(pattern="^ORD-[0-9]+$")]
    customer: Annotated[str, Field(min_length=1)]
    email: str
    items: Annotated[list[Line], Field(min_length=1)]
    total: Annotated[float, Field(gt=0)]
    currency: Literal["EUR"]


@workflow(timeout="10m")
def order_import(order: Order) -> dict[str, Any]:
    """Validate, reserve, charge and ship one order of a small tea shop."""
    shop = variables(partner="http://127.0.0.77:8790")  # the demo writes its own address here

    # A payload of the wrong shape is rejected at the start. An address with a typo is a valid
    # order: it becomes a dead letter, which a user repairs and requeues.
    validate = modules.data.validate(
        data=order.email, schema={"type": "string", "pattern": "^[^@ ]+@[^@ ]+[.][a-z]+$"}
    )
    post = modules.http.request
    reserve = post.options(title="Reserve stock", retry="standard", timeout=10, after=validate)(
        method="POST",
        url=f"{shop.partner}/reservations",
        json={"orderId": order.order_id, "items": order.items},
    )
    with when(order.total > 1000, id="big", title="Above 1,000?"):
        review = post.options(title="Ask for a credit check", timeout=10)(
            method="POST",
            url=f"{shop.partner}/reviews",
            json={"orderId": order.order_id, "total": order.total},
        )
    with chain(title="Charge the card") as charge:
        amount = modules.data.set(values={"cents": filters.int(round(order.total * 100))})
        pay = post.options(timeout=10)(
            method="POST",
            url=f"{shop.partner}/charges",
            json={"orderId": order.order_id, "cents": amount.cents, "currency": order.currency},
        )
    reservation = reserve.body.reservationId
    with when(failed(charge)):
        refund = post.options(title="Release the stock, refund what was taken", timeout=10)(
            method="POST",
            url=f"{shop.partner}/refunds",
            json={
                "orderId": order.order_id,
                "reservation": reservation,
                "reason": error(charge).message,
            },
        )
    # A carrier that hangs is cut off, tried once more, then dead.
    twice = {"maxAttempts": 2, "baseSeconds": 1, "maxSeconds": 5, "jitter": 0}
    ship = post.options(title="Hand over to the carrier", timeout=8, retry=twice)(
        method="POST",
        url=f"{shop.partner}/shipments",
        json={"orderId": order.order_id, "reservation": reservation},
    )
    confirm = modules.email.send.options(title="Tell the customer")(
        from_="Tea and Clay <shop@example.com>",
        to=[validate.data],
        subject=f"Your order {order.order_id} is on its way",
        text=f"""\
Dear {order.customer},

your order {order.order_id} over {order.total:.2f} {order.currency}
is on its way. Its tracking number is {ship.body.trackingNumber}.

Thank you!
""",
    )
    return {
        "orderId": order.order_id,
        "charged": succeeded(charge),
        "tracking": choose(succeeded(ship), ship.body.trackingNumber, None),
    }
