"""DATABASE_URL names one server or several, and libpq finds the primary."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from executions import environment


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        ("db", "db", ""),
        ("db:5433", "db", "5433"),
        ("[::1]:5433", "::1", "5433"),
        ("one:5432,two:5433", "one,two", "5432,5433"),
        ("one,two", "one,two", ""),
        ("one,two:5433", "one,two", ",5433"),
        ("", "", ""),
    ],
)
def test_servers_are_given_to_libpq_as_they_stand(address: str, host: str, port: str) -> None:
    found = environment.database(f"postgres://us%40er:p%3Aw@{address}/shop?sslmode=require")

    assert (found["HOST"], found["PORT"]) == (host, port)
    assert (found["USER"], found["PASSWORD"], found["NAME"]) == ("us@er", "p:w", "shop")
    assert found["OPTIONS"] == {"sslmode": "require"}


@pytest.mark.parametrize("address", ["db:port", "one:5432,two:x", "db:99999"])
def test_an_address_that_is_none_is_told(address: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"expected host:port, or several"):
        environment.database(f"postgres://user:word@{address}/shop")
