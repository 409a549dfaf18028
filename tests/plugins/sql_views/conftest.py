"""Fixtures: two workspaces with committed rows in every table, and a role that reads each."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from executions.access.actor import Actor
from executions.models import Workspace
from tests.support.engine_database import engine_database
from tests.support.two_workspaces import planted
from valkyr_plugins.sql_views import granting, installing
from valkyr_plugins.sql_views.granting import RoleLimits

ACTOR = Actor.system("tests")


@dataclass(frozen=True, slots=True)
class SqlWorld:
    """The workspaces, the passwords of `reads_here` and `reads_rival`, and the keys of `there`."""

    here: Workspace
    there: Workspace
    passwords: dict[str, str]
    foreign: frozenset[str]

    def connect(self, role: str, **more: Any) -> psycopg.Connection[Any]:
        """Open a session of a login role, as a BI tool does."""
        given = connection.get_connection_params()
        return psycopg.connect(
            host=given.get("host"),
            port=given.get("port"),
            dbname=given["dbname"],
            user=role,
            password=self.passwords[role],
            **more,
        )


@pytest.fixture(scope="package")
def world(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[SqlWorld]:
    with ExitStack() as stack:
        keep = request.config.getvalue("reuse_db")
        stack.enter_context(engine_database(django_db_blocker, keep=keep))
        here, _, _ = planted("here")
        there, _, rows = planted("rival")
        keys = {str(pk) for found in rows.values() for pk in found if isinstance(pk, UUID)}
        passwords = {
            f"reads_{place.slug}": granting.grant(
                f"reads_{place.slug}", [place.slug], RoleLimits(seconds=20), actor=ACTOR
            )
            for place in (here, there)
        }
        stack.callback(installing.remove)
        for role in passwords:
            stack.callback(granting.revoke, role, [], actor=ACTOR)
        yield SqlWorld(here, there, passwords, frozenset(keys))
