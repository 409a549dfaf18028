"""A plain function as a step: pure, so it may run inline."""

from typing import Annotated

from pydantic import BaseModel, Field

from runners.modules.registry import step


class Price(BaseModel):
    """What is left to pay."""

    total: int = Field(description="In cents.")
    saved: int = Field(description="What was taken off, in cents.")


@step("shop.discount", inline=True, effect="none", example={"total": 2000, "percent": 10})
def discount(
    total: Annotated[int, Field(description="What it costs, in cents.", ge=0)],
    percent: Annotated[int, Field(description="What is taken off.", ge=0, le=100)] = 10,
) -> Price:
    """Takes a discount off a total, rounded down to whole cents."""
    saved = total * percent // 100
    return Price(total=total - saved, saved=saved)
