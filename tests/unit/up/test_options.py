"""The settings that `make up` reads from the environment."""

from pathlib import Path

import pytest

from valkyr_project.up.options import PROJECT, UpError, parse


def test_without_any_variable_the_documented_defaults_hold() -> None:
    options = parse([], {})

    assert (options.port, options.flower_port) == (8000, 5555)
    assert options.home == PROJECT / ".valkyr"
    assert options.database_url == options.redis_url == ""
    assert 1 <= options.concurrency <= 10
    assert not options.task_events


@pytest.mark.parametrize(("value", "always"), [("1", True), ("yes", True), ("0", False)])
def test_workers_report_to_flower_always_only_where_somebody_says_so(
    value: str, always: bool
) -> None:
    assert parse([], {"VALKYR_TASK_EVENTS": value}).task_events is always


def test_a_relative_home_is_made_absolute() -> None:
    assert parse([], {"VALKYR_HOME": "some where"}).home == Path.cwd() / "some where"


@pytest.mark.parametrize("value", ["0", "70000", "-1", "http", "80.5"])
def test_a_port_that_is_none_is_refused_naming_variable_and_value(value: str) -> None:
    with pytest.raises(UpError, match=f"PORT is '{value}'; expected a whole number"):
        parse([], {"PORT": value})


def test_one_port_for_both_servers_is_refused() -> None:
    with pytest.raises(UpError, match="both 9000"):
        parse([], {"PORT": "9000", "FLOWER_PORT": "9000"})


def test_help_lists_every_variable(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"], {})

    printed = capsys.readouterr().out
    for name in ("PORT", "FLOWER_PORT", "VALKYR_HOME", "DATABASE_URL", "VALKYR_ADMIN_PASSWORD"):
        assert name in printed
