"""Redis behind Sentinels as the broker of a chaos run (the fault broker-failover)."""

from pathlib import Path

from tests.support.sentinels import Sentinels


class SentinelBroker:
    """A primary and a replica, and three Sentinels that promote the replica."""

    def __init__(self, folder: Path) -> None:
        self.sentinels = Sentinels(folder)
        self.environment = self.sentinels.environment

    @property
    def url(self) -> str:
        return self.sentinels.url

    def stop(self) -> None:
        self.sentinels.stop()

    def forget(self) -> None:
        raise NotImplementedError("no fault empties it")

    def start(self) -> None:
        self.sentinels.start()
