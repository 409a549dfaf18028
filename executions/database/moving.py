"""The error with which a database rejects writes to a workspace that is being moved."""

# A code in PostgreSQL's class 55 (object not in prerequisite state), for which Django raises
# OperationalError.
MOVING = "55V01"


def is_moving(error: BaseException) -> bool:
    """Return whether a database error means that the workspace is being moved to another cell."""
    return getattr(error.__cause__, "sqlstate", None) == MOVING
