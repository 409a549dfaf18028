"""A replica's settings follow the primary's, with shorter time-outs."""

from executions import environment
from valkyr_project.database import PATIENCE_SECONDS, database

PRIMARY = {
    **environment.database("postgres://a:b@primary:5432/valkyr"),
    "OPTIONS": {"application_name": "valkyr-web", "connect_timeout": 5, "pool": {"timeout": 20}},
    "CONN_MAX_AGE": 0,
}


def test_it_is_the_server_of_its_own_address_with_the_primarys_ways() -> None:
    found = database(PRIMARY, "postgres://c:d@standby:6432/valkyr?sslmode=require")

    assert (found["HOST"], found["PORT"], found["USER"]) == ("standby", "6432", "c")
    assert found["CONN_MAX_AGE"] == 0
    assert found["OPTIONS"]["application_name"] == "valkyr-web"
    assert found["OPTIONS"]["sslmode"] == "require"


def test_nobody_waits_long_for_it_and_the_primary_keeps_its_own_patience() -> None:
    found = database(PRIMARY, "postgres://standby/valkyr")["OPTIONS"]

    assert found["connect_timeout"] == PATIENCE_SECONDS
    assert found["pool"]["timeout"] == PATIENCE_SECONDS
    assert PRIMARY["OPTIONS"] == {
        "application_name": "valkyr-web",
        "connect_timeout": 5,
        "pool": {"timeout": 20},
    }
