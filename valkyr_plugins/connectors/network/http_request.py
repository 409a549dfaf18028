"""`http.request`: inputs and outputs; http_exchange.py sends the request."""

from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from runners.public.modules import Bad, ErrorType, Module, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.network.request_parts import (
    MEBIBYTE,
    MultipartPart,
    QueriedInputs,
    Scalar,
    target,
)

# Invalid inputs of `http.request` and their messages.


NOWHERE = "https://api.example.com/"
BAD_REQUESTS = (
    Bad("an address of another scheme", {"url": "file:///etc/passwd"}, "http:// or https://"),
    Bad("an address without a host", {"url": "http:///orders"}, "names a host"),
    Bad("an invalid port", {"url": "http://api.example.com:99999/"}, "url"),
    Bad("an address of 10,000 characters", {"url": NOWHERE + "x" * 10_000}, "8192 characters"),
    Bad(
        "this machine's own address",
        {"url": "http://127.0.0.1:1/"},
        "a private or special address",
    ),
    Bad(
        "the metadata service of a cloud",
        {"url": "http://169.254.169.254/latest/meta-data/"},
        "a private or special address",
    ),
    Bad(
        "a header with a line break",
        {"url": "{server}/good", "headers": {"X-Note": "a\r\nHost: evil.example"}},
        "cannot be sent",
        needs="http",
    ),
    Bad(
        "a header outside of ASCII",
        {"url": NOWHERE, "headers": {"X-Note": "Grüße"}},
        "header 'X-Note' contains characters outside of ASCII",
    ),
    Bad(
        "a header that HTTP sets",
        {"url": NOWHERE, "headers": {"Transfer-Encoding": "chunked"}},
        "Transfer-Encoding cannot be set",
    ),
    Bad(
        "bytes that are not Base64",
        {"url": NOWHERE, "method": "POST", "bodyBase64": "%%%"},
        "bodyBase64 is not Base64",
    ),
    Bad(
        "text with a lone surrogate",
        {"url": NOWHERE, "method": "POST", "body": "a\ud800"},
        "body",
    ),
    Bad(
        "a number that JSON cannot express",
        {"url": NOWHERE, "method": "POST", "json": {"amount": float("nan")}},
        "cannot be written as JSON",
    ),
    Bad("two bodies", {"url": NOWHERE, "json": {}, "body": "x"}, "set only one of"),
    Bad(
        "a file outside the files folder",
        {
            "url": NOWHERE,
            "method": "POST",
            "multipart": [{"name": "f", "path": "../../etc/passwd"}],
        },
        "must be below the files folder",
    ),
    Bad("two places", {"url": NOWHERE, "store": True, "saveTo": "a"}, "one of store and saveTo"),
    Bad("an endless answer", {"url": "{server}/endless"}, "raise maxBytes", needs="http"),
    Bad(
        "64 KiB that unpack to 64 MiB",
        {"url": "{server}/gzip-bomb"},
        "raise maxBytes",
        needs="http",
    ),
    Bad(
        "an unrequested encoding",
        {"url": "{server}/brotli"},
        "only one of gzip, deflate is supported",
        needs="http",
    ),
    Bad(
        "an answer that ends early",
        {"url": "{server}/cut"},
        "RemoteProtocolError",
        ErrorType.TRANSIENT,
        needs="http",
    ),
    Bad(
        "a very slow answer",
        {"url": "{server}/drip-body", "timeoutSeconds": 0.3},
        "ReadTimeout",
        ErrorType.TIMEOUT,
        needs="http",
    ),
    Bad("a redirect loop", {"url": "{server}/circle"}, "more than 5", needs="http"),
)


GIBIBYTE = 1024 * MEBIBYTE
MAX_TOLD = 64 * MEBIBYTE
BODIES = {"json_body", "body", "body_base64", "form", "multipart"}


class HttpRequestInputs(QueriedInputs):
    """The method, URL, headers and body of the request."""

    method: Literal["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"] = Field(
        "GET",
        description=(
            "The HTTP method. Unless `headers` contains an Idempotency-Key, POST, PUT, PATCH "
            "and DELETE get one, which is the same in every retry of this step."
        ),
    )
    json_body: Any = Field(
        None, alias="json", description="The body, sent as JSON.", examples=[{"amount": 12}]
    )
    body: str | None = Field(
        None, description="The body as text, sent in UTF-8.", examples=["<order/>"]
    )
    body_base64: str | None = Field(
        None, description="The body as bytes, in Base64.", examples=["{{ previous.content }}"]
    )
    form: dict[str, Scalar | list[Scalar]] | None = Field(
        None,
        description="The fields of a web form.",
        examples=[{"user": "ann", "tags": ["a", "b"]}],
    )
    multipart: list[MultipartPart] | None = Field(
        None,
        max_length=100,
        description="Parts to send as a form with files (multipart/form-data); together at most "
        "64 MiB.",
        examples=[[{"name": "title", "value": "Invoice"}, {"name": "file", "path": "out/1.pdf"}]],
    )
    authentication: Literal["header", "digest"] = Field(
        "header",
        description=(
            "How the request uses the credential: `header` sends it immediately; `digest` (RFC "
            "7616) answers the server's challenge, with a credential of type basic."
        ),
    )
    accept_status: list[int | Literal["4xx", "5xx"]] = Field(
        default_factory=list,
        description="Statuses of 400 or more that count as success.",
        examples=[[404, 409]],
    )
    follow_redirects: bool = Field(True, description="Follow up to 5 redirects.")
    save_to: str | None = Field(
        None,
        description=(
            "A path in the files folder. The response's body is streamed into that file instead of "
            "the output; the file appears when it is complete."
        ),
        examples=["downloads/{{ execution.id }}.pdf"],
    )
    store: bool = Field(
        False,
        description=(
            "Stream the response's body into the payload store, even if it is small. `body` then "
            "refers to stored content, which file.write (`content`) and data.csv_parse "
            "(`stored`) read in parts."
        ),
    )
    max_bytes: int = Field(
        5 * MEBIBYTE,
        ge=1,
        le=10 * GIBIBYTE,
        description="A response with more bytes than this fails the step; a limit over 64 MiB "
        "needs `store` or `saveTo`.",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "HttpRequestInputs":
        if len(self.model_fields_set & BODIES) > 1:
            raise ValueError("set only one of json, body, bodyBase64, form and multipart")
        if self.store and self.save_to is not None:
            raise ValueError("set only one of store and saveTo")
        if self.max_bytes > MAX_TOLD and self.save_to is None and not self.store:
            raise ValueError(
                f"maxBytes is more than {MAX_TOLD}: set saveTo to store the body in a file, or "
                "store to put it into the payload store"
            )
        return self


class SavedFile(ModuleOutputs):
    """A body that was written to a file."""

    path: str = Field(description="Below the files folder.")
    bytes: int = Field(description="The file's size in bytes.")
    sha256: str = Field(description="Its SHA-256, in hexadecimal.")


class HttpRequestOutputs(ModuleOutputs):
    """The status, headers and body of the response."""

    status: int = Field(description="The HTTP status.", examples=[200])
    headers: dict[str, str] = Field(description="The response headers, with names in lower case.")
    body: Any = Field(
        description="Parsed JSON, otherwise text; Base64 if it is binary; null if it is empty or "
        "in a file (`saveTo`); with `store`, a reference to stored content."
    )
    body_encoding: Literal["json", "text", "base64", "none", "file", "stored"] = Field(
        description="How to read `body`; `file` if `saveTo` stored it, `stored` with `store`."
    )
    file: SavedFile | None = Field(description="The file that `saveTo` created.")
    url: str = Field(description="The address of the response, after redirects.")
    duration_ms: float = Field(description="Duration in milliseconds.")


class HttpRequest(Module[HttpRequestInputs]):
    """Sends an HTTP request and returns the response.

    A status of 400 or more fails the step, unless `acceptStatus` lists it. After a failure with
    408, 425, 429 or 5xx, the step is retried. If the response's Retry-After requests a longer delay
    than the retry policy, that delay applies, up to one day. After a crash, a request may be sent
    twice; POST, PUT, PATCH and DELETE then repeat the Idempotency-Key. A credential of type bearer
    or basic becomes the Authorization header, which is not sent to another origin after a redirect.
    Private and special addresses are rejected unless an administrator allows their range.
    """

    type = "http.request"
    title = "HTTP request"
    category = "network"
    queue = "io"
    effect = "external"
    credential = ("bearer", "basic")
    judges_hosts = "everything"
    addresses = ("url",)
    keeps = ("saveTo",)
    circuit_target = (
        "`http.request:` and the host, with the port if it is not the default; http.paginate, "
        "graphql.query and rss.read share it"
    )
    example: ClassVar[Any] = {
        "method": "POST",
        "url": "https://api.example.com/orders",
        "json": {"orderId": "{{ input.orderId }}", "amount": 12},
        "timeoutSeconds": 10,
        "acceptStatus": [409],
    }
    bad_inputs = BAD_REQUESTS
    Inputs = HttpRequestInputs
    Outputs: ClassVar[Any] = HttpRequestOutputs

    def circuit(self, inputs: HttpRequestInputs) -> str | None:
        return target(inputs.url)

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.network.http_exchange  # noqa: F401 - loads httpx

    def execute(self, inputs: HttpRequestInputs, ctx: StepContext) -> Result:
        # Imported here because httpx is slow to load and most workers never send a request.
        from valkyr_plugins.connectors.network.http_exchange import http_exchange

        return Result(http_exchange(inputs, ctx))
