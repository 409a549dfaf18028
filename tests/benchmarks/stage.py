"""PostgreSQL and Redis for one benchmark: durable as in production, in a temporary folder."""

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.benchmarks import databases
from tests.benchmarks.cast import Cast
from valkyr_project.embedded import Postgres, Redis


class Stage(Cast):
    """Servers and processes that end with the block; Django is set up inside it."""

    postgres: Postgres  # type: ignore[assignment] # has a pid as well
    redis: Redis  # type: ignore[assignment]

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="valkyr-bench-"))
        folder.chmod(0o711)  # the servers' account passes through
        postgres, redis = Postgres(folder, durable=True), Redis(folder, durable=True)
        super().__init__(folder, postgres, redis)  # type: ignore[arg-type]

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _start(self) -> None:
        for server in (self.postgres, self.redis):
            server.launch()
        for server in (self.postgres, self.redis):
            server.wait()
        _configure(self.postgres.url, self.redis.url, self.folder)
        import django
        from django.core.management import call_command
        from django.db import connection

        django.setup()
        call_command("migrate", interactive=False, verbosity=0)
        call_command("ensure_admin", stdout=open(os.devnull, "w"))  # noqa: PTH123, SIM115
        connection.close()
        databases.keep_fresh(self.postgres.url)

    def _stop(self) -> None:
        self.end_all()
        self.redis.stop()
        self.postgres.stop()
        for place in self.folder.iterdir():
            if place.is_symlink():
                shutil.rmtree(place.resolve(), ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def _configure(database: str, redis: str, folder: Path) -> None:
    """Set the whole environment of this process and its children, without the caller's
    variables.
    """
    for name in list(os.environ):
        if name.startswith(("CELERY_", "VALKYR_", "RUNNER_", "OTEL_")):
            del os.environ[name]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        "DATABASE_URL": database,
        "REDIS_URL": redis,
        "BENCH_PLAIN_REDIS_URL": databases.redis_database(redis, 1),
        "VALKYR_HOME": str(folder),
        "VALKYR_SECRET_KEY": "benchmark-" + "0123456789abcdef" * 4,
        "VALKYR_EXTRA_MODULES": "tests.benchmarks.modules",
        "VALKYR_HTTP_ALLOWED_NETWORKS": "127.0.0.0/8",
        "VALKYR_ADMIN_USERNAME": "bench",
        "VALKYR_ADMIN_PASSWORD": "bench-" + "p" * 20,
    }
