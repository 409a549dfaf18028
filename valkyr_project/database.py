"""The settings of a read replica."""

from typing import Any

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
