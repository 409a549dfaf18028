"""`http.paginate`: inputs and outputs; pages.py makes the requests."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from runners.public.modules import (
    Bad,
    ErrorType,
    Module,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from valkyr_plugins.connectors.data.bounds import MAX_BYTES
from valkyr_plugins.connectors.data.jmespath_query import compiled
from valkyr_plugins.connectors.network.request_parts import MEBIBYTE, QueriedInputs, target

# JMESPath expressions of HTTP steps: checked when a workflow is published, applied to responses.
#
# They are evaluated in a thread of a process that also runs other steps, so their work is limited.


def parsed(expression: str) -> str:
    """Return the expression unchanged. Raises ValueError if it is invalid."""
    compiled(expression)
    return expression


Expression = Annotated[str, AfterValidator(parsed)]


def select(expression: str, data: Any, field: str, most: int | None = MAX_BYTES) -> Any:
    """Return the value that an expression selects from `data`.

    `field` is the input that contains the expression, for messages. `most` limits the bytes of the
    value's JSON; None limits only intermediate values. Raises StepError if a limit is exceeded or
    the expression does not fit the data.
    """
    try:
        return compiled(expression)(data, most)
    except StepError as error:
        raise StepError(f"{field}: {error.message}") from error


USUAL_PARAMETER = {"cursor": "cursor", "page": "page", "offset": "offset"}
Strategy = Literal["link", "next", "cursor", "page", "offset"]


class HttpPaginateInputs(QueriedInputs):
    """The first page, and how to find the next one."""

    method: Literal["GET", "POST"] = Field("GET", description="The HTTP method.")
    json_body: Any = Field(
        None, alias="json", description="The body, sent as JSON with each request; only with POST."
    )
    strategy: Strategy = Field(
        description=(
            "How the step finds the next page. link: by a Link header with rel=next (RFC 8288). "
            "next: `next` selects its URL. cursor: `next` selects a token for `parameter`. page, "
            "offset: `parameter` counts pages or items until a page has no items (or fewer than "
            "`pageSize`)."
        )
    )
    items: Expression = Field(
        "@",
        description="A JMESPath expression for a page's list of items; by default the whole body.",
        examples=["orders[?paid].{id: id, total: total}"],
    )
    next: Expression | None = Field(
        None,
        description="A JMESPath expression that selects the next URL or cursor; reading ends if "
        'the result is null, "", 0 or false.',
        examples=["meta.nextCursor"],
    )
    more: Expression | None = Field(
        None,
        description="A JMESPath expression that is true if there is a next page.",
        examples=["hasMore"],
    )
    parameter: str | None = Field(
        None,
        description="The parameter for cursor, page or offset; by default the strategy's name.",
        examples=["starting_after"],
        min_length=1,
    )
    parameter_in: Literal["query", "body"] = Field(
        "query",
        description="The place of `parameter`; in the body, dots name nested fields "
        "(variables.after).",
    )
    page_size: int | None = Field(
        None, ge=1, description="The number of items in a full page; a shorter page is the last."
    )
    start: str | int | None = Field(
        None,
        description="Where to begin: `next` of an earlier step, or the first page's number or "
        "offset.",
        examples=["{{ previous.next }}"],
    )
    max_pages: int = Field(100, ge=1, le=10_000, description="Maximum number of pages.")
    max_items: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        description="Number of items after which no further page is read.",
    )
    max_bytes: int = Field(
        5 * MEBIBYTE,
        ge=1,
        le=64 * MEBIBYTE,
        description="Maximum size of the bodies of all pages together, in bytes; a larger first "
        "page fails the step.",
    )
    at_limit: Literal["stop", "fail"] = Field(
        "stop",
        description=(
            "The effect of a limit if there are more items. stop: `truncated` is true and "
            "`next` says where to continue. fail: the step fails."
        ),
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "HttpPaginateInputs":
        if self.strategy in ("next", "cursor") and self.next is None:
            raise ValueError(f"strategy {self.strategy} needs next, an expression that selects it")
        if self.strategy in ("page", "offset") and isinstance(self.start, str):
            raise ValueError(f"start must be a whole number for the strategy {self.strategy}")
        if self.json_body is not None and self.method == "GET":
            raise ValueError("json needs method POST")
        if self.parameter_in == "body" and not isinstance(self.json_body, dict):
            raise ValueError("parameterIn body needs json, an object, and method POST")
        return self

    @property
    def carrier(self) -> str:
        """Return the position's parameter; by default, the strategy's name, or "" for a URL."""
        return self.parameter or USUAL_PARAMETER.get(self.strategy, "")


class HttpPaginateOutputs(ModuleOutputs):
    """The items of all pages that were read."""

    items: list[Any] = Field(description="The items of all pages that were read, in order.")
    count: int = Field(description="The number of items.")
    pages: int = Field(description="The number of pages read.")
    truncated: bool = Field(description="Whether a limit ended the reading before the last page.")
    next: str | int | None = Field(
        description="The position of the next page, for `start`; null at the end."
    )
    duration_ms: float = Field(description="How long this attempt took, in milliseconds.")


class HttpPaginate(Module[HttpPaginateInputs]):
    """Reads a JSON API page by page and returns the items of all pages.

    Reading ends with the last page or at a limit; with `atLimit: fail`, a limit fails the step. The
    step also fails if the next page was already read. The step keeps the first pages whose items
    together fit in 48 KiB: after a transient error, the next attempt continues after these pages.
    To lose less work, read a few pages per step (`maxPages`) in a loop, and pass `next` to `start`.
    The credential and headers such as API keys are sent only to the origin of `url`.
    """

    type = "http.paginate"
    title = "HTTP pages"
    category = "network"
    queue = "io"
    effect = "none"
    timeout_seconds = 300.0
    credential = ("bearer", "basic")
    judges_hosts = "everything"
    addresses = ("url",)
    circuit_target = "the host, with the port if it is not the default (as for http.request)"
    example: ClassVar[Any] = {
        "url": "https://api.example.com/orders",
        "query": {"limit": 100, "since": "{{ input.since }}"},
        "strategy": "cursor",
        "next": "meta.nextCursor",
        "items": "orders[].{id: id, total: total}",
        "maxPages": 50,
    }
    bad_inputs = (
        Bad("a page that is not JSON", {"url": "{server}/invalid-utf8", "strategy": "link"},
            "page 1 is not JSON", needs="http"),
        Bad("the same next page forever",
            {"url": "{server}/same-page", "strategy": "next", "next": "next", "items": "items"},
            "was already read", needs="http"),
        Bad("the same cursor forever",
            {"url": "{server}/same-page", "strategy": "cursor", "next": "cursor", "items": "items"},
            "was already read", needs="http"),
        Bad("a server that ignores page numbers",
            {"url": "{server}/same-page", "strategy": "page", "items": "items"},
            "the same as the previous page", needs="http"),
        Bad("10,000 pages",
            {"url": "{server}/pages", "strategy": "link", "items": "items", "atLimit": "fail",
             "maxPages": 20},
            "more than 20 pages", needs="http"),
        Bad("an endless page", {"url": "{server}/endless", "strategy": "link"},
            "raise maxBytes", needs="http"),
        Bad("a page that ends early", {"url": "{server}/cut", "strategy": "link"},
            "RemoteProtocolError", ErrorType.TRANSIENT, needs="http"),
        Bad("items that are not a list", {"url": "{server}/good", "strategy": "link"},
            "items '@' selects an object", needs="http"),
        Bad("missing items",
            {"url": "{server}/good", "strategy": "link", "items": "orders"},
            "items 'orders' selects null", needs="http"),
        Bad("no expression",
            {"url": "https://api.example.com/", "strategy": "link", "items": "a["},
            "not a JMESPath expression"),
        Bad("a strategy that lacks its expression",
            {"url": "https://api.example.com/", "strategy": "cursor"}, "needs next"),
    )  # fmt: skip
    Inputs = HttpPaginateInputs
    Outputs: ClassVar[Any] = HttpPaginateOutputs

    def circuit(self, inputs: HttpPaginateInputs) -> str | None:
        return target(inputs.url)

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.network.pages  # noqa: F401 - loads httpx

    def execute(self, inputs: HttpPaginateInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.network.pages import all_pages

        return Result(all_pages(inputs, ctx))
