from typing import Annotated, Any

from pydantic import BaseModel, Field

from valkyr import approve, modules, variables, workflow


class Price(BaseModel):
    cents: int
    discount: Annotated[int, Field(ge=0, le=100)]


@workflow(checkpoint={"onGate": True, "keep": 5})
def second_thoughts(asked: Price) -> Any:
    """An offer that the manager and then the customer must accept."""
    made = variables(offer=None)
    price = made.set(offer=asked.cents * (100 - asked.discount) // 100)
    manager = approve(f"Offer {made.offer}?")
    customer = approve(f"Accept {made.offer}?")
    sold = modules.data.set(values={"cents": made.offer})
    return sold
