from typing import Annotated, Any

from pydantic import BaseModel, Field

from valkyr import choose, filters, history, modules, repeat, workflow


class Price(BaseModel):
    cents: Annotated[int, Field(ge=1)]
    months: Annotated[int, Field(ge=1, le=60)]


@workflow
def instalments(price: Price) -> Any:
    """Split a price into equal monthly instalments; the last one takes what rounding left."""
    with repeat(count=price.months) as plan:
        open_cents = choose(plan.previous, plan.previous.rest.open, price.cents)
        due = modules.data.set(
            values={
                "month": plan.iteration,
                "open": open_cents,
                "cents": open_cents // (price.months - plan.index),
            }
        )
        rest = modules.data.set(
            values={
                "open": due.open - due.cents,
                "paid": filters.list(filters.map(history(due), attribute="cents")) + [due.cents],
            }
        )
    return plan.last.rest.paid
