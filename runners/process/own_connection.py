"""Connect the engine's threads and programs to the database without Django's connections.

It returns plain values only, which can be passed to another program.
"""

from typing import Any

from executions.database import connection

KEPT = ("dbname", "user", "password", "host", "port", "connect_timeout", "tcp_user_timeout",
        "keepalives_idle", "keepalives_interval", "keepalives_count",
        "application_name", "options", "target_session_attrs", "load_balance_hosts", "sslmode",
        "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslcrl", "sslnegotiation",
        "channel_binding", "require_auth")  # fmt: skip


def parameters() -> dict[str, Any]:
    """Return the arguments of `psycopg.connect`."""
    given = connection.get_connection_params()
    return {key: given[key] for key in KEPT if given.get(key)}
