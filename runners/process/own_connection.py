"""The arguments with which the engine's threads and programs open their own connections.

The arguments are plain values that can be passed to another program.
"""

from typing import Any

from psycopg import pq

from executions.database import connection


def parameters() -> dict[str, Any]:
    """Return the arguments of Django's connection that libpq accepts, such as the TLS options."""
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    return {
        name: value if isinstance(value, int) else str(value)  # a file can be a Path
        for name, value in connection.get_connection_params().items()
        if name in known and value not in (None, "")
    }
