from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from valkyr import agent, modules, tool, workflow

Number = Annotated[str, Field(description="The order's number.")]


class Question(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", protected_namespaces=())

    question: str = Field(min_length=3, max_length=2000)
    model: str
    base_url: str


def find_order(order: Number) -> None:
    """Finds an order by its number."""
    values = {"order": order, "state": "shipped", "total": 12}
    modules.data.set.options(title="Find the order")(values=values)


def refund(refund: Number) -> None:
    """Refunds an order."""
    modules.data.set.options(title="Refund the order")(values={"refunded": refund})


@workflow
def shop_clerk(asked: Question) -> Any:
    """An agent answers a customer with the shop's tools; a person approves each refund."""
    clerk = agent(
        asked.question,
        model=asked.model,
        base_url=asked.base_url,
        system="You work for a tea shop. Look orders up before you answer.",
        tools=[find_order, tool(refund, approve=True)],
        max_turns=6,
        title="The clerk",
        credential="llm",
    )
    return {"answer": clerk.text, "turns": clerk.turns, "toolCalls": clerk.tool_calls}
