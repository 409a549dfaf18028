"""`queue.publish`: send a message to a queue of another system."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, JsonValue, StringConstraints, model_validator

from runners.public.modules import (
    Bad,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from valkyr_plugins.connectors.messaging.broker import (
    Broker,
    BrokerMessage,
    BrokerReceipt,
    body_of,
    broker_of,
)

MAX_SECONDS = 30.0
# A short string in AMQP has at most 255 bytes. The limit applies to all brokers.
Name = Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f]+$")]
OWN_FIELDS = frozenset({"messageId", "contentType", "body"})


class QueuePublishInputs(ModuleInputs):
    """The message and its target."""

    queue: Name | None = Field(
        None,
        description="A queue (AMQP), or a list to which the body is appended (Redis).",
        examples=["orders"],
    )
    stream: Name | None = Field(
        None,
        description=(
            "A Redis stream. Its entries have the fields `messageId`, `contentType` and `body`, "
            "and a field for each header."
        ),
        examples=["orders"],
    )
    exchange: Name | None = Field(
        None,
        description="An exchange (AMQP), to which the message is sent with `routingKey`.",
        examples=["shop"],
    )
    routing_key: Annotated[str, StringConstraints(max_length=255)] = Field(
        "", description="The routing key.", examples=["order.paid"]
    )
    json_body: JsonValue = Field(
        None, alias="json", description="The body, sent as JSON.", examples=[{"orderId": 17}]
    )
    text: str | None = Field(None, description="The body as text, sent in UTF-8.")
    base64: str | None = Field(None, description="The body as bytes, in Base64.")
    headers: dict[Name, str | int | bool] = Field(
        default_factory=dict,
        max_length=50,
        description="Headers of the message, sent as texts; a Redis list cannot store headers.",
        examples=[{"kind": "order.paid"}],
    )
    persistent: bool = Field(
        True, description="AMQP: the message survives a restart of the broker if its queue does."
    )
    max_length: int | None = Field(
        100_000,
        ge=1,
        le=100_000_000,
        description="For a Redis stream: the approximate maximum number of entries; null keeps "
        "all.",
    )

    @model_validator(mode="after")
    def _one_place_and_one_body(self) -> "QueuePublishInputs":
        if sum(place is not None for place in (self.queue, self.stream, self.exchange)) != 1:
            raise ValueError("set exactly one of queue, stream and exchange")
        if len(self.model_fields_set & {"json_body", "text", "base64"}) != 1:
            raise ValueError("set exactly one of json, text and base64")
        if self.routing_key and self.exchange is None:
            raise ValueError("routingKey needs exchange")
        taken = sorted(OWN_FIELDS & self.headers.keys())
        if taken and self.stream is not None:
            raise ValueError(f"a stream's entry already has {', '.join(taken)}: rename the header")
        return self


class QueuePublishOutputs(ModuleOutputs):
    """The broker's answer."""

    message_id: str = Field(description="The message's id, the same in every retry.")
    bytes: int = Field(description="The body's size, in bytes.")
    length: int | None = Field(
        None, description="For a Redis list: its length after the message was added."
    )
    entry_id: str | None = Field(None, description="For a Redis stream: the entry's id.")


class QueuePublish(Module[QueuePublishInputs]):
    """Sends a message to a queue in RabbitMQ (AMQP), or to a list or stream in Redis.

    A credential of type `broker` specifies the server. A body can have at most 1 MiB. The step ends
    when the broker has confirmed the message; a message that reaches no queue fails the step. After
    a crash, a message may be sent twice with the same message id, by which the receiver can detect
    duplicates. Messages in a Redis list have no ids, so put an id into the body. The step creates
    missing lists and streams in Redis, but nothing in RabbitMQ.

    Messages to the engine's own Redis database or virtual host are rejected. Private addresses are
    also rejected, unless an administrator allows their range.
    """

    type = "queue.publish"
    title = "Publish to a queue"
    category = "messages"
    queue = "io"
    effect = "external"
    credential = ("broker",)
    judges_hosts = "everything"
    Inputs = QueuePublishInputs
    Outputs: ClassVar[Any] = QueuePublishOutputs
    circuit_target = "the queue, stream or exchange, such as `queue.publish:orders`"
    example: ClassVar[Mapping[str, Any]] = {
        "queue": "orders",
        "json": {"orderId": "{{ input.orderId }}"},
    }
    bad_inputs = (
        Bad("no destination", {"json": 1}, "set exactly one of queue, stream and exchange"),
        Bad(
            "two destinations",
            {"queue": "a", "stream": "b", "json": 1},
            "set exactly one of queue, stream",
        ),
        Bad("no body", {"queue": "a"}, "set exactly one of json, text and base64"),
        Bad("two bodies", {"queue": "a", "text": "b", "json": 1}, "set exactly one of json, text"),
        Bad(
            "a name with a line break", {"queue": "a\r\nSET x y", "json": 1}, "queue: String should"
        ),
        Bad(
            "a name that is too long",
            lambda: {"queue": "x" * 1_000_000, "json": 1},
            "queue: String should",
        ),
        Bad(
            "a body of 2 MiB",
            lambda: {"queue": "a", "text": "x" * 2**21},
            ("the maximum is 1,048,576"),
        ),
        Bad("invalid Base64", {"queue": "a", "base64": "!"}, "base64 is not valid Base64"),
        Bad(
            "a lone surrogate",
            {"queue": "a", "text": "\ud800"},
            ("a lone surrogate at character 0"),
        ),
        Bad(
            "a header named body",
            {"stream": "a", "json": 1, "headers": {"body": "b"}},
            "a stream's entry already has body",
        ),
        Bad("no credential", {"queue": "a", "json": 1}, "this step has no credential"),
    )

    def circuit(self, inputs: QueuePublishInputs) -> str | None:
        return f"{self.type}:{inputs.queue or inputs.stream or inputs.exchange}"

    def execute(self, inputs: QueuePublishInputs, ctx: StepContext) -> Result:
        message = _message(inputs, ctx.idempotency_key)
        broker = broker_of(ctx.credential)
        sent = _send(broker, message, max(0.1, min(MAX_SECONDS, ctx.remaining() * 0.9)))
        outputs = QueuePublishOutputs(
            message_id=message.id,
            bytes=len(message.body),
            length=sent.length,
            entry_id=sent.entry_id,
        )
        return Result(outputs.model_dump(mode="json", by_alias=True))


def _message(inputs: QueuePublishInputs, key: str) -> BrokerMessage:
    body, content_type = body_of(
        json_value=inputs.json_body, text=inputs.text, encoded=inputs.base64
    )
    return BrokerMessage(
        id=key,
        body=body,
        content_type=content_type,
        is_text=inputs.base64 is None,
        headers={name: _written(value) for name, value in inputs.headers.items()},
        queue=inputs.queue or "",
        stream=inputs.stream or "",
        exchange=inputs.exchange or "",
        routing_key=inputs.routing_key,
        persistent=inputs.persistent,
        max_length=inputs.max_length,
    )


def _written(value: str | int | bool) -> str:
    """Return a header's value as text; true and false are written as in JSON."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _send(broker: Broker, message: BrokerMessage, seconds: float) -> BrokerReceipt:
    # Imported on demand, because both libraries are slow to load and most workers never need them.
    if broker.family == "redis":
        if message.exchange:
            raise StepError("Redis has no exchanges: name a queue (a list) or a stream")
        if message.headers and not message.stream:
            raise StepError("a Redis list cannot store headers: use a stream")
        from valkyr_plugins.connectors.messaging import redis_sending

        return redis_sending.send(broker, message, seconds)
    if message.stream:
        raise StepError(
            "streams are not supported for AMQP: name a queue, or an exchange and a routingKey"
        )
    from valkyr_plugins.connectors.messaging import amqp_sending

    return amqp_sending.send(broker, message, seconds)
