from typing import Any

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from valkyr import approve, first_of, modules, when, workflow


class Refund(BaseModel, alias_generator=to_camel):
    order_id: str
    euros: float


@workflow
def refund_approval(asked: Refund) -> Any:
    """Refund small amounts at once; a person decides on large ones, within a day."""
    order, euros = asked.order_id, asked.euros
    with when(euros > 100, id="large"):
        decide = approve(f"Refund {euros} € for {order}?", approvers=["ADMIN"], within="1d")
    refund = modules.data.template(text=f"{euros} € go back for {order}")
    with when(decide.rejected | decide.expired):
        why = first_of(decide.comment, "nobody decided")
        refuse = modules.data.template(text=f"No refund for {order}: {why}")
    return first_of(refund, refuse).text
