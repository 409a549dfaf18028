"""RabbitMQ as the broker of a chaos run (`--broker rabbitmq`)."""

from pathlib import Path

from tests.support.rabbitmq import RabbitMQ


class RabbitBroker:
    """A node of our own; what it confirmed survives `stop`, and nothing survives `forget`."""

    def __init__(self, folder: Path) -> None:
        self._node = RabbitMQ(folder)

    @property
    def url(self) -> str:
        return self._node.url

    def stop(self) -> None:
        self._node.kill()

    def forget(self) -> None:
        self._node.forget()

    def start(self) -> None:
        self._node.start()
