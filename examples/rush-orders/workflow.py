from valkyr import approve, workflow


@workflow(priority=3, concurrency_key="table", concurrency_limit=1, on_conflict="queue")
def rush_orders(orderId: str) -> str:  # noqa: N803
    """One packing table; rush orders pass those that wait."""
    pack = approve(f"{orderId} is packed?")
    return orderId
