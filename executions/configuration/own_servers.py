"""The engine's own servers, which no step may reach: its databases, broker and Redis.

Step modules do not import Django's connections or Celery, so they look up the servers here.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator

# The variables with these servers in the stand-alone platform, in processes that load no app.
VARIABLES = (
    "DATABASE_URL",
    "DATABASE_DIRECT_URL",
    "CELERY_BROKER_URL",
    "REDIS_URL",
    "CELERY_RESULT_BACKEND",
)
_sources: list[Callable[[], Iterable[str]]] = []


def name(source: Callable[[], Iterable[str]]) -> None:
    """Register a function that returns addresses of the engine's own servers."""
    if source not in _sources:
        _sources.append(source)


def addresses() -> Iterator[str]:
    """Yield the servers' URLs one by one, without the prefix of a result backend's class."""
    given = [os.environ.get(variable, "") for variable in VARIABLES]
    given += _cells()
    for text in [*given, *(url for source in _sources for url in source())]:
        # `module:Class+redis://…` names the class of a result backend; `;` separates servers.
        yield from (one.rpartition("+")[2] for one in text.split(";") if one)


def _cells() -> list[str]:
    """Return all addresses in VALKYR_CELLS, also of cells that this process does not serve."""
    try:
        found = json.loads(os.environ.get("VALKYR_CELLS", "").strip() or "{}")
    except ValueError:  # the settings report it
        return []
    given = found.values() if isinstance(found, dict) else ()
    servers = (list(one.values()) if isinstance(one, dict) else [one] for one in given)
    return [str(url) for one in servers for url in one]
