"""A class: it calls another system, so it has a circuit, a credential and classified failures."""

from typing import Any

from pydantic import Field

from runners.modules.base import (
    Bad,
    Module,
    ModuleInputs,
    ModuleOutputs,
    StepContext,
    StepError,
)
from runners.states import ErrorType

MOST_BYTES = 100_000


class StockInputs(ModuleInputs):
    """The article, and the warehouse."""

    warehouse: str = Field(
        description="The warehouse's address.",
        examples=["https://stock.example/v1"],
        max_length=500,
    )
    article: str = Field(description="The article's number.", pattern=r"^[A-Z]{2}-\d{1,6}$")


class StockOutputs(ModuleOutputs):
    """The warehouse's answer."""

    available: int = Field(description="How many there are.")
    article: str = Field(description="The article asked for.")


class Stock(Module[StockInputs]):
    """Asks a warehouse how many there are of an article; asking again does no harm."""

    type = "shop.stock"
    title = "Ask the warehouse"
    category = "shop"
    Inputs = StockInputs
    Outputs = StockOutputs
    queue = "io"
    effect = "none"
    timeout_seconds = 10.0
    credential = ("bearer",)
    circuit_target = "the warehouse's host: `shop.stock:stock.example`"
    example = {"warehouse": "https://stock.example/v1", "article": "AB-12"}
    bad_inputs = (
        Bad("no article's number", {"warehouse": "https://x.example", "article": "12"}, "article"),
        Bad("an address that is none", {"warehouse": "not one", "article": "AB-1"}, "http"),
    )

    def circuit(self, inputs: StockInputs) -> str:
        import httpx

        return f"shop.stock:{httpx.URL(inputs.warehouse).host}"

    def warm_up(self) -> None:
        import httpx  # noqa: F401 - before the first step needs it

    def execute(self, inputs: StockInputs, ctx: StepContext) -> StockOutputs:
        found = self._ask(f"{inputs.warehouse}/{inputs.article}", ctx)
        if not isinstance(found.get("available"), int):
            raise StepError("the warehouse's answer has no number `available`; tell its operators")
        return StockOutputs(available=found["available"], article=inputs.article)

    def _ask(self, address: str, ctx: StepContext) -> dict[str, Any]:
        import httpx

        if not address.startswith(("http://", "https://")):
            raise StepError(f"expected an address with http:// or https://, found {address!r:.80}")
        headers = {"Authorization": f"Bearer {ctx.credential['token']}"} if ctx.credential else {}
        # httpx's exceptions are classified by name; a timeout is retried, for instance.
        answer = httpx.get(address, headers=headers, timeout=max(0.1, ctx.remaining()))
        if answer.status_code >= 500:
            raise StepError(f"the warehouse answered {answer.status_code}", ErrorType.TRANSIENT)
        if answer.status_code != 200 or len(answer.content) > MOST_BYTES:
            raise StepError(
                f"the warehouse answered {answer.status_code}; expected 200, and little"
            )
        parsed = answer.json()
        return parsed if isinstance(parsed, dict) else {}
