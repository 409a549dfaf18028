"""`http.request`: what a step asks for and what it yields; the exchange itself is beside it."""

from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from runners.modules.base import Module, ModuleInputs, ModuleOutputs, Result, StepContext

MEBIBYTE = 1024 * 1024
Scalar = str | bool | int | float
# Who writes these by hand can say one thing to us and another to the server.
FORBIDDEN_HEADERS = frozenset({"content-length", "transfer-encoding", "connection", "upgrade"})


class HttpRequestInputs(ModuleInputs):
    """What to ask of whom."""

    method: Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] = Field(
        "GET", description="The HTTP method."
    )
    url: str = Field(
        description="Where to: http or https.",
        examples=["https://api.example.com/orders/{{ input.orderId }}"],
        max_length=8_192,
    )
    headers: dict[str, str | int | float] = Field(
        default_factory=dict,
        description=(
            "Request headers. Idempotency-Key is added to POST, PUT, PATCH and DELETE unless it "
            "is given here: it is the same for every attempt of this step."
        ),
        examples=[{"Accept": "application/json"}],
    )
    query: dict[str, Scalar | list[Scalar] | None] = Field(
        default_factory=dict,
        description="Added to the URL's query; null leaves a key out, a list repeats it.",
        examples=[{"page": 2, "tag": ["new", "paid"]}],
    )
    json_body: Any = Field(
        None, alias="json", description="Sent as JSON.", examples=[{"amount": 12}]
    )
    body: str | None = Field(None, description="Sent as it is, in UTF-8.", examples=["<order/>"])
    form: dict[str, Scalar | list[Scalar]] | None = Field(
        None, description="Sent as a web form.", examples=[{"user": "ann", "tags": ["a", "b"]}]
    )
    timeout_seconds: float | None = Field(
        None,
        gt=0,
        description="For the whole exchange, redirects and body included; at most the step's.",
        examples=[10],
    )
    accept_status: list[int | Literal["4xx", "5xx"]] = Field(
        default_factory=list,
        description="Answers of 400 or more that are a success of this step.",
        examples=[[404, 409]],
    )
    follow_redirects: bool = Field(True, description="Follow up to 5 redirects.")
    max_bytes: int = Field(
        5 * MEBIBYTE, ge=1, le=64 * MEBIBYTE, description="A longer body fails the step."
    )

    @field_validator("url")
    @classmethod
    def _url_is_http(cls, url: str) -> str:
        parts = urlsplit(url)
        # Reading the port raises ValueError where it is no number.
        if parts.port == 0 or parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            raise ValueError("expected a URL that begins with http:// or https:// and names a host")
        return url

    @field_validator("headers")
    @classmethod
    def _headers_are_safe(cls, headers: dict[str, str | int | float]) -> Any:
        refused = sorted(name for name in headers if name.lower() in FORBIDDEN_HEADERS)
        if refused:
            raise ValueError(f"{', '.join(refused)} cannot be set: they follow from the request")
        return headers

    @model_validator(mode="after")
    def _one_body(self) -> "HttpRequestInputs":
        given = self.model_fields_set & {"json_body", "body", "form"}
        if len(given) > 1:
            raise ValueError("give only one of json, body and form")
        return self


class HttpRequestOutputs(ModuleOutputs):
    """What was answered."""

    status: int = Field(description="The HTTP status.", examples=[200])
    headers: dict[str, str] = Field(description="The answer's headers, their names in lower case.")
    body: Any = Field(description="Parsed where it is JSON, else text; Base64 where it is binary.")
    body_encoding: Literal["json", "text", "base64", "none"] = Field(
        description="How `body` is to be read."
    )
    url: str = Field(description="Where the answer came from, after redirects.")
    duration_ms: float = Field(description="How long it took, in milliseconds.")


class HttpRequest(Module[HttpRequestInputs]):
    """Sends an HTTP request and yields the answer.

    An answer of 400 or more fails the step, unless `acceptStatus` lists it; 408, 425, 429 and
    5xx are tried again, after the answer's Retry-After. After a crash a request may be sent
    twice, with the same Idempotency-Key. A credential of type bearer or basic becomes the
    Authorization header. Private and special addresses are refused unless an
    administrator allows their range.
    """

    type = "http.request"
    title = "HTTP request"
    category = "network"
    queue = "io"
    effect = "external"
    credential = ("bearer", "basic")
    Inputs = HttpRequestInputs
    Outputs: ClassVar[Any] = HttpRequestOutputs

    def circuit(self, inputs: HttpRequestInputs) -> str | None:
        parts = urlsplit(inputs.url)
        port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
        return f"{self.type}:{parts.hostname}{port}"

    def warm_up(self) -> None:
        import runners.modules.network.exchange  # noqa: F401 - loads httpx

    def execute(self, inputs: HttpRequestInputs, ctx: StepContext) -> Result:
        # httpx takes a while to load, and most workers never send a request.
        from runners.modules.network.exchange import exchange

        return Result(exchange(inputs, ctx))
