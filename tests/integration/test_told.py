"""Events and rejected messages are stored for a limited time; open ones are kept."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.test import override_settings

from executions.database.clock import database_now, first_id_at
from executions.models import Event, RefusedMessage
from executions.triggers import retention
from tests.support.triggers import only_trigger, triggered
from tests.support.workflows import default_workspace

pytestmark = pytest.mark.django_db


def test_old_rows_that_are_done_with_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    trigger = only_trigger(triggered({"type": "QUEUE", "queue": "orders"}))
    now = database_now()
    for number, days in enumerate((40, 35, 31, 29, 0)):
        made = first_id_at(now - timedelta(days=days))
        for offset, done in enumerate((now, None)):
            pk = type(made)(int=made.int + 2 * number + offset)
            Event.objects.create(
                pk=pk, workspace=default_workspace(), event_id=str(pk), name="x", delivered_at=done
            )
            RefusedMessage.objects.create(
                pk=pk, trigger=trigger, code="x", reason="x", resolved_at=done,
                resolution="DISCARDED" if done else "",
            )  # fmt: skip

    with override_settings(VALKYR={**settings.VALKYR, "EVENT_RETENTION_DAYS": 0}):
        assert retention.expire() == {"events": 0, "messages": 0}
    counts = retention.expire()

    assert counts == {"events": 3, "messages": 3}
    assert Event.objects.filter(delivered_at=None).count() == 5
    assert RefusedMessage.objects.filter(resolution="").count() == 5
    assert retention.expire() == {"events": 0, "messages": 0}
