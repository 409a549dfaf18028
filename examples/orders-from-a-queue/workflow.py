from typing import Any

from valkyr import modules, workflow


@workflow(queue="old-shop-orders")
def orders_from_a_queue(orderId: str) -> Any:  # noqa: N803 - the older system's name
    """Take in orders that an older system pushes into a Redis list."""
    take = modules.data.template(text=f"Took {orderId}")
    return take.text
