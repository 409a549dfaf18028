"""The database settings of a read replica, and of cells."""

import json
from typing import Any, NamedTuple

from django.core.exceptions import ImproperlyConfigured

from executions import environment as env

# Django's settings of a read replica, derived from the primary's. No I/O.


# Seconds to wait for a replica or a cell. It is short, because the primary can answer instead of a
# replica.
PATIENCE_SECONDS = 2


def database(primary: dict[str, Any], url: str) -> dict[str, Any]:
    """Return the settings of the replica at `url`: the primary's settings, with short timeouts."""
    given = env.database(url)
    options = dict(primary["OPTIONS"])
    if "pool" in options:
        options["pool"] = {**options["pool"], "timeout": PATIENCE_SECONDS}
    own: Any = given["OPTIONS"]
    return {
        **primary,
        **given,
        "OPTIONS": {
            **options,
            "connect_timeout": PATIENCE_SECONDS,
            "tcp_user_timeout": PATIENCE_SECONDS * 1000,
            **own,
        },
        # Tests that do not start a replica read the primary under this name.
        "TEST": {"MIRROR": "default"},
    }


# The addresses of cells: docs/how-to/cells.md.


class CellServer(NamedTuple):
    """The URL of a cell's server or pooler; with a pooler, `direct` is the server's own URL."""

    url: str
    direct: str = ""


def cells(text: str) -> dict[str, CellServer]:
    """Return the addresses in the text of `VALKYR_CELLS`, keyed by cell.

    Raises ImproperlyConfigured if the text is not a JSON object of addresses.
    """
    try:
        found = json.loads(text or "{}")
    except ValueError:
        found = None
    given = found if isinstance(found, dict) else {"": None}
    servers = {name: _server(one) for name, one in given.items()}
    if None in servers.values():
        raise ImproperlyConfigured(
            "VALKYR_CELLS is not a JSON object of names and addresses; expected, for example, "
            '{"b": "postgres://valkyr:password@b.internal/valkyr"}, or with a pooler '
            '{"b": {"url": "postgres://…", "direct": "postgres://…"}}.'
        )
    return {name: one for name, one in servers.items() if one}


def _server(given: Any) -> CellServer | None:
    if isinstance(given, str):
        return CellServer(given)
    known = {"url", "direct"}
    if not isinstance(given, dict) or set(given) != known:
        return None
    return CellServer(**given) if all(isinstance(one, str) for one in given.values()) else None


def past_poolers(text: str) -> str:
    """Return the text of `VALKYR_CELLS`, with the direct address of each cell that has a pooler."""
    return json.dumps({name: one.direct or one.url for name, one in cells(text).items()})


def of_cell(given: dict[str, CellServer], name: str) -> CellServer:
    """Return the address of one cell. Raises ImproperlyConfigured for an unknown cell."""
    if name not in given:
        known = ", ".join(given) or "VALKYR_CELLS is not set"
        raise ImproperlyConfigured(f"VALKYR_CELL is {name!r}; expected a cell: {known}.")
    return given[name]


def further(first: dict[str, Any], server: CellServer) -> dict[str, Any]:
    """Return the settings for a cell's server, in a process that serves all cells.

    A request waits only briefly for a cell that does not answer.
    """
    given = env.database(server.url)
    own: Any = given["OPTIONS"]
    options = {**first["OPTIONS"], "connect_timeout": PATIENCE_SECONDS, **own}
    if "pool" in options:
        options["pool"] = {**options["pool"], "timeout": PATIENCE_SECONDS}
    return pooled({**first, **given, "OPTIONS": options}, server.direct)


# Poolers: docs/how-to/pgbouncer.md.


# A frozen client must not block an execution; see "Claim, fence, complete" in the page about the
# architecture.
SESSION = (
    "-c idle_in_transaction_session_timeout=5000 -c lock_timeout=3000 -c statement_timeout=30000"
)
# The number of uses after which psycopg prepares a statement by itself: in practice never.
# Statements in `.sql` files request their preparation.
ON_REQUEST = 1_000_000_000


def pooled(given: dict[str, Any], direct: str) -> dict[str, Any]:
    """Return the settings for direct sessions, or for sessions through a pooler.

    `direct` is the server's address behind the pooler; "" without a pooler. A pooler can use
    another session for each transaction, so no statement is prepared and no server-side cursor is
    used. A pooler accepts no session options either: the PostgreSQL role must have them.
    """
    options = {**given["OPTIONS"], "prepare_threshold": None if direct else ON_REQUEST}
    if not direct:
        options["options"] = SESSION
    elif options.get("options") == SESSION:  # from the first database, which has no pooler
        del options["options"]
    return {
        **given,
        "OPTIONS": options,
        "DISABLE_SERVER_SIDE_CURSORS": bool(direct),
        "DIRECT_URL": direct,
    }
