"""`graphql.query`: inputs and outputs; graphql_exchange.py sends the operation."""

import re
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from runners.public.modules import Bad, ErrorType, Module, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.network.request_parts import MEBIBYTE, AddressedInputs, target

# Find the kind of operation in a GraphQL document. Pure, in time linear in the document's length.
#
# A tenant writes the document, and Python's `re` holds the interpreter lock while it matches. So no
# expression here can backtrack.


KINDS = ("query", "mutation", "subscription")
# Block strings, strings and comments, which may contain any word or brace. An unterminated one
# extends to the end of the document or of its line.
_QUOTED = re.compile(
    r'"""(?:\\"""|[^"]|"(?!""))*+(?:""")?|"(?:\\.|[^"\\\n])*+"?|#[^\n]*',
)
_BRACKET = re.compile(r"([{}()])")
# Matches, outside of all brackets, a keyword and an optional name.
_HEAD = re.compile(r"([_A-Za-z]\w*+)\s*+([_A-Za-z]\w*+)?")


def operations(document: str) -> dict[str, str]:
    """Return the kind of each operation, keyed by name; the name of an unnamed operation is ""."""
    found: dict[str, str] = {}
    *definitions, _ = _outside(document).split("{}")
    for definition in definitions:
        head = _HEAD.search(definition)  # None for a document that is only a selection
        kind, name = ("query", "") if head is None else (head[1], head[2] or "")
        if kind in KINDS:
            found[name] = kind
    return found


def kind_of(document: str, name: str | None) -> str:
    """Return query, mutation or subscription for the operation that runs; "" if unknown."""
    known = operations(document)
    if name is not None:
        return known.get(name, "")
    return next(iter(known.values())) if len(known) == 1 else ""


def _outside(document: str) -> str:
    """Return the document without the contents of its brackets.

    The outermost pairs of braces become {}.
    """
    kept, depth = [], 0
    for piece in _BRACKET.split(_QUOTED.sub(" ", document)):
        if piece in ("}", ")"):
            depth -= 1
        if depth == 0 and piece not in ("(", ")"):
            kept.append(piece)
        if piece in ("{", "("):
            depth += 1
    return "".join(kept)


MAX_DOCUMENT = 200_000
QUERY = "query Order($id: ID!) { order(id: $id) { state total } }"


class GraphqlQueryInputs(AddressedInputs):
    """The GraphQL operation, and the endpoint."""

    query: str = Field(
        description="A GraphQL document. Pass values with `variables`, not with templates.",
        examples=[QUERY],
        min_length=1,
        max_length=MAX_DOCUMENT,
    )
    variables: dict[str, Any] = Field(
        default_factory=dict,
        description="The document's variables.",
        examples=[{"id": "{{ input.orderId }}"}],
    )
    operation_name: str | None = Field(
        None, description="The operation to run, if the document has several."
    )
    on_errors: Literal["fail", "partial"] = Field(
        "fail",
        description=(
            "The effect of errors in the response. fail: the step fails. partial: if the response "
            "also has data, the output contains both."
        ),
    )
    max_bytes: int = Field(
        5 * MEBIBYTE,
        ge=1,
        le=64 * MEBIBYTE,
        description="A response with more bytes than this fails the step.",
    )

    @model_validator(mode="after")
    def _can_be_run(self) -> "GraphqlQueryInputs":
        if "{{" in self.query:
            return self  # not rendered yet, so it cannot be checked
        known = operations(self.query)
        if not known:
            raise ValueError("query has no operation: write query, mutation or { … }")
        if self.operation_name is None and len(known) > 1:
            raise ValueError(f"query has {len(known)} operations: set operationName")
        if self.operation_name is not None and self.operation_name not in known:
            raise ValueError(f"query has no operation {self.operation_name[:100]!r}")
        if kind_of(self.query, self.operation_name) == "subscription":
            raise ValueError("a subscription does not end: use a query instead")
        return self


class GraphqlQueryOutputs(ModuleOutputs):
    """The data of the response."""

    data: Any = Field(description="The data that the operation selected.")
    errors: list[Any] = Field(description="The response's errors; only with `onErrors: partial`.")
    extensions: Any = Field(description="The `extensions` of the response, or null.")
    duration_ms: float = Field(description="Duration in milliseconds.")


class GraphqlQuery(Module[GraphqlQueryInputs]):
    """Runs a GraphQL query or mutation over HTTP and returns its data.

    By default, errors in the response fail the step permanently; the step's error lists their paths
    and codes. If all errors are transient, such as RATE_LIMITED or THROTTLED, the step is retried,
    as after the statuses 408, 425, 429 and 5xx. A mutation is sent with an Idempotency-Key, but may
    be sent twice after a crash. To read pages of results, use http.paginate with a cursor in the
    body.
    """

    type = "graphql.query"
    title = "GraphQL"
    category = "network"
    queue = "io"
    effect = "external"
    credential = ("bearer", "basic")
    judges_hosts = "everything"
    addresses = ("url",)
    circuit_target = "the host, with the port if it is not the default (as for http.request)"
    example: ClassVar[Any] = {
        "url": "https://api.example.com/graphql",
        "query": QUERY,
        "variables": {"id": "{{ input.orderId }}"},
    }
    bad_inputs = (
        Bad("a document without an operation",
            {"url": "https://api.example.com/", "query": "fragment F on Order { id }"},
            "has no operation"),
        Bad("two operations without a name",
            {"url": "https://api.example.com/", "query": "query A { a } query B { b }"},
            "set operationName"),
        Bad("a subscription",
            {"url": "https://api.example.com/", "query": "subscription S { orders { id } }"},
            "a subscription does not end"),
        Bad("a document of 300,000 characters",
            {"url": "https://api.example.com/", "query": "{ a }" + " " * 300_000},
            "200000 characters"),
        Bad("an endpoint that does not speak GraphQL", {"url": "{server}/good", "query": "{ a }"},
            "neither data nor errors", needs="http"),
        Bad("an answer that is not JSON",
            {"url": "{server}/invalid-utf8", "query": "{ a }"},
            "did not respond with GraphQL", needs="http"),
        Bad("an endless answer", {"url": "{server}/endless", "query": "{ a }"},
            "raise maxBytes", needs="http"),
        Bad("an endless error page",
            {"url": "{server}/endless-error", "query": "{ a }"},
            "raise maxBytes", needs="http"),
        Bad("an answer that ends early", {"url": "{server}/cut", "query": "{ a }"},
            "RemoteProtocolError", ErrorType.TRANSIENT, needs="http"),
    )  # fmt: skip
    Inputs = GraphqlQueryInputs
    Outputs: ClassVar[Any] = GraphqlQueryOutputs

    def circuit(self, inputs: GraphqlQueryInputs) -> str | None:
        return target(inputs.url)

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.network.graphql_exchange  # noqa: F401 - loads httpx

    def execute(self, inputs: GraphqlQueryInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.network.graphql_exchange import graphql_exchange

        return Result(graphql_exchange(inputs, ctx))
