"""Settings that a connection needs are sent before each statement, in the same round trip."""

from typing import Any

import psycopg
import pytest
from django.db import connection

from executions.vendor_seams.psycopg_scoped import is_watched, watch

pytestmark = pytest.mark.django_db
ASKED = "SELECT current_setting('valkyr.tried', true)"


class Always:
    """Sets a parameter for each transaction."""

    times = 0

    def __call__(self, _: Any) -> tuple[bytes, ...]:
        self.times += 1
        return (b"SELECT set_config('valkyr.tried', 'yes', true)",)

    def forget(self) -> None:
        """Do nothing."""

    def is_at_work(self) -> bool:
        return True


@pytest.fixture
def parameters() -> dict[str, Any]:
    given: dict[str, Any] = connection.get_connection_params()
    given.pop("pool", None)
    return given


@pytest.mark.parametrize("autocommit", [True, False])
def test_every_way_to_ask_sends_what_is_due_first(
    parameters: dict[str, Any], autocommit: bool
) -> None:
    with psycopg.connect(**parameters, autocommit=autocommit) as raw:
        watcher = Always()
        watch(raw, watcher)

        found = [
            raw.execute(ASKED).fetchone(),
            raw.cursor(name="kept").execute(ASKED).fetchone(),
            raw.cursor().execute(ASKED if autocommit else f"{ASKED};{ASKED}").fetchone(),
        ]
        raw.cursor().executemany(f"{ASKED} WHERE %s", [(True,), (False,)])

    assert is_watched(raw)
    assert found == [("yes",)] * 3
    assert watcher.times == 4


def test_nothing_is_left_in_the_session(parameters: dict[str, Any]) -> None:
    with psycopg.connect(**parameters, autocommit=True) as raw:
        plain = raw.cursor()
        watch(raw, Always())
        raw.execute(ASKED)
        assert plain.execute(ASKED).fetchone() in {("",), (None,)}


def test_rows_that_are_streamed_need_a_transaction(parameters: dict[str, Any]) -> None:
    with psycopg.connect(**parameters, autocommit=True) as raw:
        watch(raw, Always())
        with pytest.raises(psycopg.NotSupportedError, match="open `atomic`"):
            next(iter(raw.cursor().stream(ASKED)))
        with raw.transaction():
            assert next(iter(raw.cursor().stream(ASKED))) == ("yes",)
