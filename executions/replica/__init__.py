"""Lists and dashboards read from a replica, where there is one and it is fresh enough.

Single objects, powers, and whatever is decided by are always read from the primary; `read` is for
rows that are only shown. What is shown is never older than `VALKYR_REPLICA_LAG_SECONDS`, and
whoever changed something sees it at once: their lists come from the primary for as long.
"""

from executions.replica.reading import read

__all__ = ["read"]
