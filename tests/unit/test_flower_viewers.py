"""The times at which workers begin and stop sending events to Flower."""

import pytest
from flower.urls import settings

from valkyr_project.celery import app
from valkyr_project.messaging import flower_viewers
from valkyr_project.messaging.flower_viewers import (
    DISABLE_SECONDS,
    ENABLE_SECONDS,
    LOOK_SECONDS,
    Viewers,
)


def test_workers_are_told_to_stop_first_and_again_each_minute_while_nobody_looks() -> None:
    viewers = Viewers()
    assert viewers.due(0.0) is False

    viewers.told(False, 0.0)
    assert viewers.due(DISABLE_SECONDS - 1) is None
    assert viewers.due(DISABLE_SECONDS) is False


def test_a_page_has_them_report_at_once_until_nobody_looked_for_minutes() -> None:
    viewers = Viewers()
    viewers.told(False, 0.0)

    viewers.looked_at = 10.0
    assert viewers.due(10.0) is True

    viewers.told(True, 10.0)
    assert viewers.due(11.0) is None
    assert viewers.due(10.0 + ENABLE_SECONDS) is True, "a worker may have started meanwhile"
    assert viewers.due(10.0 + LOOK_SECONDS) is False


@pytest.mark.parametrize("value", ["0", "1"])
def test_flower_gives_no_orders_where_the_environment_decides(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_TASK_EVENTS", value)

    flower_viewers.watch(app)

    assert "log_function" not in settings
