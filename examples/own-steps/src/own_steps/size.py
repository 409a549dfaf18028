"""A function that decides where the workflow goes on."""

from typing import Annotated, Literal

from runners.modules.registry import step


@step("shop.size", outcomes=("large", "small"), inline=True, effect="none", example={"total": 2000})
def size(
    total: Annotated[int, "What it costs, in cents."],
    limit: Annotated[int, "From here on it is large."] = 100_000,
) -> Literal["large", "small"]:
    """Tells large orders from small ones: `after: "size:large"`."""
    return "large" if total >= limit else "small"
