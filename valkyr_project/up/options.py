"""The options of `make up`: environment variables that are read and checked once."""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from valkyr_project.processes import commands


class UpError(Exception):
    """An error that prevents the stack from running; the message says what to do."""


PROJECT = Path(__file__).resolve().parents[2]
# An installed package has no data in the folder beside it.
BESIDE = PROJECT if (PROJECT / "manage.py").exists() else Path.cwd()
EPILOGUE = """\
environment:
  PORT                    web, API and admin (8000)
  FLOWER_PORT             Flower (5555)
  VALKYR_HOME             data, passwords and logs (.valkyr)
  DATABASE_URL            your own PostgreSQL in place of the embedded one
  REDIS_URL               your own Redis in place of the embedded one
  VALKYR_ADMIN_USERNAME   the administrator, created at the first start (admin)
  VALKYR_ADMIN_PASSWORD   that administrator's password (random)
  RUNNER_CONCURRENCY      processes of the default worker (processors, at most 10)
  VALKYR_TASK_EVENTS      workers report to Flower: 1 always, 0 never (while a user views it)
Everything listens on 127.0.0.1 only. Ctrl-C stops what this started, and nothing else.
"""


@dataclass(frozen=True)
class Options:
    """The options of a start; `database_url` and `redis_url` are "" for the embedded servers."""

    port: int
    flower_port: int
    home: Path
    database_url: str
    redis_url: str
    concurrency: int
    task_events: bool

    @property
    def web_url(self) -> str:
        """Return the URL of the web process."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def flower_url(self) -> str:
        """Return the URL of Flower."""
        return f"http://127.0.0.1:{self.flower_port}"


def parse(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> Options:
    """Return the options from the environment. Raises UpError, which names an invalid variable."""
    argparse.ArgumentParser(
        prog="python -m valkyr_project.up",
        description="Start Valkyr: servers, web, workers, beat and Flower, until Ctrl-C.",
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args(arguments)
    options = Options(
        port=_number(environment, "PORT", 8000, 65_535),
        flower_port=_number(environment, "FLOWER_PORT", 5555, 65_535),
        home=home_folder(environment),
        database_url=_text(environment, "DATABASE_URL"),
        redis_url=_text(environment, "REDIS_URL"),
        concurrency=_number(environment, "RUNNER_CONCURRENCY", min(10, os.cpu_count() or 1), 1000),
        task_events=commands.reports_always(_text(environment, "VALKYR_TASK_EVENTS")),
    )
    if options.port == options.flower_port:
        raise UpError(f"PORT and FLOWER_PORT are both {options.port}; they must differ.")
    return options


def home_folder(environment: Mapping[str, str]) -> Path:
    """Return the path of the data folder; the folder need not exist."""
    return Path(_text(environment, "VALKYR_HOME") or BESIDE / ".valkyr").expanduser().absolute()


def _text(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name, "").strip()


def _number(environment: Mapping[str, str], name: str, default: int, most: int) -> int:
    raw = _text(environment, name)
    if not raw:
        return default
    if not raw.isdecimal() or not 1 <= int(raw) <= most:
        raise UpError(f"{name} is {raw!r}; expected a whole number from 1 to {most}.")
    return int(raw)
