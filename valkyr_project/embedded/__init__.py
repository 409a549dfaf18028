"""A real PostgreSQL and a real Redis from Python wheels, for machines without them.

`Postgres` and `Redis` start one server each as a child process; other code does not distinguish
these servers from any other behind `DATABASE_URL` and `REDIS_URL`. PostgreSQL's wheel has an API,
which is not used: it trusts every local user, leaves the server running and needs a system account.
"""

from valkyr_project.embedded.account import ServerError
from valkyr_project.embedded.postgres import Postgres
from valkyr_project.embedded.redis import Redis

__all__ = ["Postgres", "Redis", "ServerError"]
