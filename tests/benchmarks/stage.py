"""PostgreSQL and Redis for one benchmark: durable as in production, in a folder thrown away."""

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.benchmarks.programs import Program
from valkyr_project.embedded import Postgres, Redis


class Stage:
    """Servers and processes that end with the block; Django is set up inside it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="valkyr-bench-"))
        self.folder.chmod(0o711)  # the servers' account passes through
        self.postgres = Postgres(self.folder, durable=True)
        self.redis = Redis(self.folder, durable=True)
        self.programs: list[Program] = []

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

    def add(self, program: Program) -> Program:
        """Have a process ended with the stage."""
        self.programs.append(program)
        return program

    def end(self, program: Program) -> None:
        """End a process now."""
        self.programs.remove(program)
        program.stop()

    def last_lines(self) -> str:
        """The end of what each process said; the folder goes with the stage."""
        return "\n".join(f"--- {one.name}\n{one.last_lines()}" for one in self.programs)

    def check(self) -> None:
        """Raise when a process that should run has ended."""
        for program in self.programs:
            program.check()

    def _start(self) -> None:
        for server in (self.postgres, self.redis):
            server.launch()
        for server in (self.postgres, self.redis):
            server.wait()
        _configure(self.postgres.url, self.redis.url, self.folder)
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", interactive=False, verbosity=0)
        call_command("ensure_admin", stdout=open(os.devnull, "w"))  # noqa: PTH123, SIM115

    def _stop(self) -> None:
        while self.programs:
            self.programs.pop().stop()
        self.redis.stop()
        self.postgres.stop()
        for place in self.folder.iterdir():
            if place.is_symlink():
                shutil.rmtree(place.resolve(), ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def _configure(database: str, redis: str, folder: Path) -> None:
    """The whole environment of this process and its children; the caller's must not leak in."""
    for name in list(os.environ):
        if name.startswith(("CELERY_", "VALKYR_", "RUNNER_")):
            del os.environ[name]
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        "DATABASE_URL": database,
        "REDIS_URL": redis,
        "BENCH_PLAIN_REDIS_URL": redis.rpartition("/")[0] + "/1",
        "VALKYR_HOME": str(folder),
        "VALKYR_SECRET_KEY": "benchmark-" + "0123456789abcdef" * 4,
        "VALKYR_EXTRA_MODULES": "tests.benchmarks.modules",
        "VALKYR_HTTP_ALLOWED_NETWORKS": "127.0.0.0/8",
        "VALKYR_ADMIN_USERNAME": "bench",
        "VALKYR_ADMIN_PASSWORD": "bench-" + "p" * 20,
    }
