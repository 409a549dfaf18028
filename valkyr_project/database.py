"""The settings of a read replica, and of the databases of cells."""

import json
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from executions import environment as env

# Django's settings of a read replica, derived from the primary's. Pure.


# Do not wait for a replica: the primary can answer as well.
PATIENCE_SECONDS = 2


def database(primary: dict[str, Any], url: str) -> dict[str, Any]:
    """Return the settings of the server at `url`: those of the primary, with a short timeout."""
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
        # Tests that do not start a replica of their own read the primary under this name.
        "TEST": {"MIRROR": "default"},
    }


# The addresses of cells: docs/how-to/cells.md.


def cells(text: str) -> dict[str, str]:
    """Return the addresses in `VALKYR_CELLS` by cell. Raises ImproperlyConfigured."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise ImproperlyConfigured(
            "VALKYR_CELLS is not a JSON object of names and addresses; expected, for example, "
            '{"b": "postgres://valkyr:password@b.internal/valkyr"}.'
        )
    return found


def of_cell(given: dict[str, str], name: str) -> str:
    """Return the address of one cell. Raises ImproperlyConfigured."""
    if name not in given:
        known = ", ".join(given) or "VALKYR_CELLS is not set"
        raise ImproperlyConfigured(f"VALKYR_CELL is {name!r}; expected a cell: {known}.")
    return given[name]


def further(first: dict[str, Any], url: str) -> dict[str, Any]:
    """Return the settings of a cell's server at `url`, for a process that serves all cells.

    A request waits only briefly for a cell that does not answer.
    """
    given = env.database(url)
    own: Any = given["OPTIONS"]
    options = {**first["OPTIONS"], "connect_timeout": PATIENCE_SECONDS, **own}
    return {**first, **given, "OPTIONS": options}
