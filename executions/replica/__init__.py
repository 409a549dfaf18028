"""Lists and dashboards, read from a replica if there is one and it is fresh enough.

Single objects, permissions, and everything on which decisions depend are always read from the
primary; `read` is for rows that are only shown. Shown rows are at most `VALKYR_REPLICA_LAG_SECONDS`
old, and users see their own changes at once: for that time, their lists come from the primary.
"""

from executions.replica.reading import read

__all__ = ["read"]
