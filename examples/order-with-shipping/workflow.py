from typing import Any

from valkyr import choose, error, failed, filters, modules, sub, succeeded, when, workflow


@workflow(
    input={
        "type": "object",
        "required": ["orderId"],
        "properties": {"orderId": {"type": "string"}, "address": {"type": "string"}},
    }
)
def order_with_shipping(order: Any) -> Any:
    """Let another workflow ship the order and wait for its tracking number."""
    ship = sub("ship-order")(orderId=order.orderId, address=filters.default(order.address, ""))
    survey = sub("ship-order", wait=False, after=ship)(  # no step waits for this one
        orderId=f"{order.orderId}-survey", address="head office"
    )
    with when(failed(ship)):
        ask = modules.data.set(values={"problem": error(ship).message})
    return choose(succeeded(ship), ship.tracking, ask.problem)
