from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from valkyr import event, first_of, modules, wait_event, when, workflow


class Order(BaseModel, alias_generator=to_camel):
    order_id: str
    patience: float = 3600


@workflow
def payment_received(order: Order) -> Any:
    """Hold an order until its payment arrives, or let it go."""
    here = event.orderId == order.order_id
    paid = wait_event("payment.received", where=here, within=order.patience)
    ship = modules.data.template(text=f"{order.order_id} ships, {paid.event.euros} € are in")
    with when(paid.timed_out):
        let_go = modules.data.template.options(id="let-go")(
            text=f"{order.order_id} is let go, nobody paid"
        )
    return first_of(ship, let_go).text
