"""Migrating may take its time: between two statements Django works out what the models become."""

from typing import Any

from django.db import connections
from django.db.models.signals import pre_migrate


def be_patient(using: str, **_: Any) -> None:
    """Let this connection's transactions lie idle for a minute.

    The limit of 5 s is for a client that freezes with an execution in its hands, which a command
    that migrates never has; on a busy machine it ended migrations halfway.
    """
    with connections[using].cursor() as cursor:
        cursor.execute("SET idle_in_transaction_session_timeout = '1min'")


def connect(app: Any) -> None:
    """Be patient before anything is migrated, once."""
    pre_migrate.connect(be_patient, sender=app, dispatch_uid="executions.migrating")
