"""The settings of a read replica."""

from typing import Any

from executions import environment as env

# Django's settings of a read replica, from the primary's. Pure.


# Nobody waits for a replica: the primary can answer as well.
PATIENCE_SECONDS = 2


def database(primary: dict[str, Any], url: str) -> dict[str, Any]:
    """The settings of the server at `url`: as the primary's, but quick to give up."""
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
        # Tests of ours that do not start one of their own read the primary under this name.
        "TEST": {"MIRROR": "default"},
    }
