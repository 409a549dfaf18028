"""A connection keeps all the engine's statements prepared, and no round trip is needed to evict
one.
"""

import pytest
from django.db import connection

from executions.database.statements import BoundStatement, run
from tests.support.round_trips import round_trips

pytestmark = pytest.mark.django_db(transaction=True)


def test_more_statements_than_psycopg_keeps_stay_prepared() -> None:
    connection.close()  # begins with an empty cache
    asked = [BoundStatement(f"SELECT {number}", {}, kept=True) for number in range(250)]
    run(asked[0])

    with round_trips() as first:
        for one in asked[1:]:
            run(one)
    with round_trips() as again:
        for one in asked:
            run(one)

    assert len(first) == 2 * 249  # each is prepared, then executed
    assert len(again) == 250
