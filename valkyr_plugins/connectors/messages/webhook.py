"""`webhook.post`: inputs and outputs; webhook_exchange.py signs and sends."""

from typing import Any, ClassVar

from pydantic import Field, field_validator

from runners.public.modules import Bad, ErrorType, Module, ModuleOutputs, Result, StepContext
from valkyr_plugins.connectors.network.request_parts import AddressedInputs, target

OWN_HEADERS = frozenset({"webhook-id", "webhook-timestamp", "webhook-signature"})


class WebhookPostInputs(AddressedInputs):
    """The payload to send, and the receiver."""

    url: str = Field(
        description="The receiver's address: http or https.",
        examples=["https://shop.example.com/hooks/orders"],
        max_length=8_192,
    )
    payload: Any = Field(
        description="The body, sent as JSON.",
        examples=[{"type": "order.shipped", "data": {"orderId": "{{ input.orderId }}"}}],
    )

    @field_validator("headers")
    @classmethod
    def _headers_are_not_ours(cls, headers: dict[str, str | int | float]) -> Any:
        refused = sorted(name.lower() for name in headers if name.lower() in OWN_HEADERS)
        if refused:
            raise ValueError(f"{', '.join(refused)} cannot be set: the step makes them")
        return headers


class WebhookPostOutputs(ModuleOutputs):
    """The sent message and the receiver's response."""

    id: str = Field(description="The message's webhook-id.")
    status: int = Field(description="The HTTP status of the response, 200 to 299.")
    signed: bool = Field(description="Whether the request was signed with a credential.")
    answer: str = Field(description="The first 2,000 bytes of the response, as text.")
    duration_ms: float = Field(description="Duration in milliseconds.")


class WebhookPost(Module[WebhookPostInputs]):
    """Posts JSON to a receiver, as Standard Webhooks specifies (standardwebhooks.com).

    The header webhook-id is this step's idempotency key, the same in every retry, so that the
    receiver can detect duplicates. The header webhook-timestamp is the time of the attempt, in Unix
    seconds. With a credential of type signing, the header webhook-signature is `v1,` followed by
    the Base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`. The secret is `whsec_` followed by the
    key in Base64, or a string whose UTF-8 bytes are the key; a key must have at least 16 bytes.
    During a rotation, use two `whsec_` secrets, separated by a space: the header then has two
    signatures. Any status outside 200 to 299 fails the step; redirects are not followed.
    """

    type = "webhook.post"
    title = "Webhook"
    category = "messages"
    queue = "io"
    effect = "external"
    retry = "patient"
    timeout_seconds = 30.0
    credential = ("signing",)
    judges_hosts = "everything"
    addresses = ("url",)
    circuit_target = "`webhook.post:` and the host, with the port if it is not the default"
    example: ClassVar[Any] = {
        "url": "https://shop.example.com/hooks/orders",
        "payload": {"type": "order.shipped", "data": {"orderId": "{{ input.orderId }}"}},
    }
    bad_inputs = (
        Bad("an address of another scheme", {"url": "ftp://shop.example.com/", "payload": {}},
            "http:// or https://"),
        Bad("the metadata service of a cloud",
            {"url": "http://169.254.169.254/latest/", "payload": {}},
            "a private or special address"),
        Bad("a number that JSON cannot express",
            {"url": "https://shop.example.com/", "payload": {"amount": float("inf")}},
            "cannot be written as JSON"),
        Bad("a header of the signature",
            {"url": "https://shop.example.com/", "payload": {}, "headers": {"Webhook-Id": "1"}},
            "webhook-id cannot be set"),
        Bad("a redirect", {"url": "{server}/circle", "payload": {}},
            "does not follow redirects", needs="http"),
        Bad("an endless answer",
            {"url": "{server}/endless-error", "payload": {}}, "answered 422", needs="http"),
        Bad("a receiver that closes the connection", {"url": "{server}/reset", "payload": {}},
            "Error", ErrorType.TRANSIENT, needs="http"),
    )  # fmt: skip
    Inputs = WebhookPostInputs
    Outputs: ClassVar[Any] = WebhookPostOutputs

    def circuit(self, inputs: WebhookPostInputs) -> str | None:
        return target(inputs.url, self.type)

    def warm_up(self) -> None:
        import valkyr_plugins.connectors.messages.webhook_exchange  # noqa: F401 - loads httpx

    def execute(self, inputs: WebhookPostInputs, ctx: StepContext) -> Result:
        from valkyr_plugins.connectors.messages.webhook_exchange import webhook_exchange

        return Result(webhook_exchange(inputs, ctx))
