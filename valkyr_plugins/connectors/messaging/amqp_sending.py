"""Send a message to an AMQP broker such as RabbitMQ, and wait for its confirmation."""

import ssl
import time
from typing import Any, NoReturn

import amqp.exceptions
from kombu import Connection, Exchange, Producer
from kombu.exceptions import KombuError

from runners.public.modules import StepError, error_type_of
from valkyr_plugins.connectors.messaging.broker import (
    Broker,
    BrokerMessage,
    BrokerReceipt,
    permitted,
)

PERSISTENT, TRANSIENT = 2, 1


def send(broker: Broker, message: BrokerMessage, seconds: float) -> BrokerReceipt:
    """Send the message, and wait for the broker's confirmation. Raises StepError.

    Each network operation must end within `seconds`. A message that reaches no queue is an error,
    although the broker would drop it silently.
    """
    failure: Exception = OSError("it has no address")
    until = time.monotonic() + seconds
    try:
        for address in permitted(broker):
            try:
                return _sent(broker, address, message, until)
            except (ConnectionRefusedError, TimeoutError) as error:
                failure = error
        raise failure
    except (OSError, KombuError, amqp.exceptions.AMQPError) as error:
        said = f"{broker.name}: {type(error).__name__}: {error}"
        raise StepError(said[:1_000], error_type_of(error)) from error


def _sent(broker: Broker, address: str, message: BrokerMessage, until: float) -> BrokerReceipt:
    left = max(0.1, until - time.monotonic())
    with Connection(
        transport="pyamqp",
        hostname=address,
        port=broker.port,
        userid=broker.user or "guest",
        password=broker.password or "guest",
        virtual_host=broker.space,
        connect_timeout=left,
        ssl=_tls(broker.host) if broker.tls else False,
        transport_options={
            "confirm_publish": True,
            "read_timeout": left,
            "write_timeout": left,
        },
    ) as connection:
        producer = Producer(
            connection.channel(),
            exchange=Exchange(message.exchange, no_declare=True),
            auto_declare=False,
            on_return=_returned,
        )
        producer.publish(
            message.body,
            routing_key=message.routing_key or message.queue,
            mandatory=True,
            content_type=message.content_type,
            content_encoding="utf-8" if message.is_text else "binary",
            headers=dict(message.headers),
            delivery_mode=PERSISTENT if message.persistent else TRANSIENT,
            message_id=message.id,
            timestamp=int(time.time()),
            retry=False,
            confirm_timeout=left,
        )
    return BrokerReceipt()


def _tls(host: str) -> dict[str, Any]:
    """Return TLS options that check the certificate against the name, not the address."""
    paths = ssl.get_default_verify_paths()
    return {
        "server_hostname": host,
        "cert_reqs": ssl.CERT_REQUIRED,
        "ca_certs": paths.cafile or paths.openssl_cafile,
    }


def _returned(exception: Exception, exchange: Any, key: str, message: Any) -> NoReturn:
    raise StepError(
        f"no queue receives messages of the exchange {exchange!r} with the routing key "
        f"{key!r}: create the queue, or its binding, at the broker"
    )
