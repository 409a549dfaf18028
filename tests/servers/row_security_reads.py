"""Readers of two workspaces that share few sessions: a program for `test_row_security.py`.

Each reads without any filter, within its scope, with and without transactions, around errors, and
sometimes closes its connection midway. Half of the reads sign in first, as a request does. The
program prints every row of another workspace that a reader saw.
"""

import os
import random
import sys
from contextlib import suppress
from threading import Thread
from typing import Any

import django
from django.core.management import call_command

READERS, READS = 8, 100


def main() -> None:
    """Migrate, create the rows, and read them."""
    pooled = os.environ.pop("POOLED", "")
    django.setup()
    if not pooled:
        call_command("migrate", verbosity=0)
    from django.contrib.auth import get_user_model

    from executions.models import Workflow
    from tests.support.two_workspaces import planted

    worlds = [planted("here"), planted("there")]
    expected: list[tuple[Any, set[Any]]] = [(boss, rows[Workflow]) for _, boss, rows in worlds]
    everything = expected[0][1] | expected[1][1]
    root = get_user_model().objects.create_superuser(f"root-{os.getpid()}")
    expected += [(None, everything), (root, everything)]
    wrong: list[str] = []
    threads = [Thread(target=_reader, args=(n, expected, wrong)) for n in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{len(wrong)} wrong", *wrong[:5])


def _reader(number: int, expected: list[tuple[Any, set[Any]]], wrong: list[str]) -> None:
    from django.db import connection

    from executions.access.row_security import scope_of
    from executions.database.row_scope import limited

    chance = random.Random(number)
    sessions = {user: _signed_in(user) for user, _ in expected if user}
    try:
        for _ in range(READS):
            user, rows = chance.choice(expected)
            how = chance.choice(WAYS)
            if user and chance.random() < 0.5:
                found = _request(user, sessions[user], how, rows, expected[2][1], chance)
            else:
                with limited(scope_of(user) if user else None):
                    found = how()
            if found != rows:
                wrong.append(f"{how.__name__}: {len(found)} rows in place of {len(rows)}")
            if chance.random() < 0.1:
                connection.connection.pgconn.finish()
                connection.close()
    except BaseException as error:
        wrong.append(repr(error))
        raise
    finally:
        connection.close()


def _signed_in(user: Any) -> Any:
    from datetime import timedelta

    from executions.accounts.sessions import SessionClient, begin
    from executions.states import SessionKind

    return begin(user, SessionKind.BROWSER, timedelta(hours=1), SessionClient()).pk


def _request(
    user: Any, session: Any, how: Any, own: set[Any], everything: set[Any], chance: random.Random
) -> set[Any]:
    """Sign in and read, as a request that starts a workflow; return the rows.

    Return no rows if the user's own workflow is not found.
    """
    from executions.access.row_security import limit_to
    from executions.accounts.authentication import account_in_session
    from executions.accounts.errors import TokenRefused
    from executions.api.starting import startable
    from executions.database import ahead
    from executions.database.row_scope import limited
    from executions.database.statements import asked

    wanted = chance.choice(sorted(everything))
    with ahead.reading(), limited(None):
        with suppress(TokenRefused):  # somebody whose session is another's
            account_in_session(session, user.pk + 1_000_000)
        found = account_in_session(
            session,
            user.pk,
            lambda key: [asked("workflow_for_api_start", {"id": wanted, "user": key})],
        )
        limit_to(found.user)
        workflow, _ = startable(wanted, found.user)
        return set() if workflow is None and wanted in own else how()


def _alone() -> set[Any]:
    from executions.models import Workflow

    return set(Workflow.objects.values_list("pk", flat=True))


def _in_a_transaction() -> set[Any]:
    from django.db import transaction

    with transaction.atomic():
        _alone()
        return _alone()


def _after_a_rollback() -> set[Any]:
    from django.db import transaction

    with transaction.atomic():
        _alone()
        transaction.set_rollback(True)
    return _alone()


def _after_an_error() -> set[Any]:
    from django.db import ProgrammingError, connection

    with suppress(ProgrammingError), connection.cursor() as cursor:
        cursor.execute("SELECT no_such_thing")
    return _alone()


def _in_chunks() -> set[Any]:
    from executions.models import Workflow

    return {row.pk for row in Workflow.objects.iterator(chunk_size=1)}


WAYS = (_alone, _in_a_transaction, _after_a_rollback, _after_an_error, _in_chunks)

if __name__ == "__main__":
    sys.exit(main())
