"""RabbitMQ as the broker of a chaos run: one node (`--broker rabbitmq`), or a cluster of three."""

from pathlib import Path

from tests.support.rabbitmq import RabbitCluster, RabbitMQ


class RabbitBroker:
    """A node for the run; confirmed messages survive `stop`, and nothing survives `forget`."""

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


class ClusterBroker:
    """Three nodes; clients get the addresses of all three."""

    def __init__(self, folder: Path) -> None:
        self.cluster = RabbitCluster(folder)

    @property
    def url(self) -> str:
        return self.cluster.url

    def stop(self) -> None:
        self.cluster.stop()

    def forget(self) -> None:
        raise NotImplementedError("no fault empties it")

    def start(self) -> None:
        self.cluster.start()
