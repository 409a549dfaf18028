"""The embedded PostgreSQL and Redis of a stack, unless the environment names real ones."""

from pathlib import Path

from valkyr_project.embedded import Postgres, Redis
from valkyr_project.up.options import Options


class Servers:
    """Zero, one or two embedded servers, and the addresses of both."""

    def __init__(self, options: Options, home: Path) -> None:
        """Take the places of the servers that are needed; start nothing yet."""
        self.embedded: list[Postgres | Redis] = []
        self._database_url = options.database_url
        self._redis_url = options.redis_url
        if not options.database_url:
            self.embedded.append(Postgres(home))
        if not options.redis_url:
            self.embedded.append(Redis(home))

    def start(self) -> None:
        """Launch all, then wait for all."""
        for server in self.embedded:
            server.launch()
        for server in self.embedded:
            server.wait()

    @property
    def database_url(self) -> str:
        """Where PostgreSQL answers."""
        found = [server.url for server in self.embedded if isinstance(server, Postgres)]
        return found[0] if found else self._database_url

    @property
    def redis_url(self) -> str:
        """Where Redis answers."""
        found = [server.url for server in self.embedded if isinstance(server, Redis)]
        return found[0] if found else self._redis_url

    def stop(self) -> None:
        """Stop what was started, Redis before PostgreSQL."""
        for server in reversed(self.embedded):
            server.stop()
