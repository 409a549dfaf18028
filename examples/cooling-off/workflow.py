from typing import Annotated, Any

from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel

from valkyr import modules, sleep, workflow


class Order(BaseModel, alias_generator=to_camel):
    order_id: str
    seconds: Annotated[float, Field(ge=0)]


@workflow
def cooling_off(order: Order) -> dict[str, Any]:
    """Give the customer a moment to change their mind, then confirm."""
    wait = sleep(order.seconds)
    confirm = modules.data.template(text=f"Order {order.order_id} is final.")
    return {"text": confirm.text, "waited": wait.waitedSeconds >= order.seconds}
