"""What has to be set on a connection goes before each statement, in the same round trip."""

from typing import Any

import psycopg
import pytest
from django.db import connection

from executions.vendor_seams.psycopg_pipeline import Due
from executions.vendor_seams.psycopg_scoped import is_watched, watch

pytestmark = pytest.mark.django_db


class Always:
    """Sets a parameter for each transaction."""

    def __init__(self, *, apart: bool) -> None:
        self.due, self.times = Due((b"SET valkyr.tried = 'yes'",), apart=apart), 0

    def __call__(self, _: Any) -> Due:
        return self.due

    def sent(self) -> None:
        self.times += 1

    def forget(self) -> None:
        """Nothing is remembered."""

    def is_at_work(self) -> bool:
        return True


@pytest.mark.parametrize("apart", [True, False])
def test_every_way_to_ask_sends_what_is_due_first(apart: bool) -> None:
    given = connection.get_connection_params()
    given.pop("pool", None)
    with psycopg.connect(**given, autocommit=True) as raw:
        watcher = Always(apart=apart)
        watch(raw, watcher)
        asked = "SELECT current_setting('valkyr.tried', true)"

        found = [
            raw.execute(asked).fetchone(),
            raw.cursor(name="kept").execute(asked).fetchone(),
            raw.cursor().execute(f"{asked};{asked}" if apart else asked).fetchone(),
        ]
        raw.cursor().executemany(f"{asked} WHERE %s", [(True,), (False,)])

    assert is_watched(raw)
    assert found == [("yes",)] * 3
    assert watcher.times == 4
