"""The errors that a caller gets for errors of the database."""

import pytest
from django.db import IntegrityError, InterfaceError, InternalError, OperationalError
from psycopg.errors import IdleInTransactionSessionTimeout, InvalidSchemaDefinition

from executions.api.problems import handle


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("gone"),
        InterfaceError("closed"),
        caused(InternalError("ended"), IdleInTransactionSessionTimeout("ended")),
    ],
)
def test_a_database_that_is_away_is_a_503_to_be_tried_again(error: Exception) -> None:
    answer = handle(error, {})

    assert answer is not None
    assert answer.status_code == 503
    assert answer["Retry-After"]


@pytest.mark.parametrize(
    "error",
    [IntegrityError("twice"), caused(InternalError("odd"), InvalidSchemaDefinition("odd"))],
)
def test_what_the_database_refuses_is_no_outage(error: Exception) -> None:
    assert handle(error, {}) is None
