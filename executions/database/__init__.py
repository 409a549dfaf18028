"""PostgreSQL without the ORM: the database alias, named statements, locks and one clock."""

from executions.database import transaction
from executions.database.routing import Router, alias, connection

__all__ = ["Router", "alias", "connection", "transaction"]
