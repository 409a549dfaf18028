"""A caller's payload never becomes a reference to a stored value."""

from pathlib import Path

import pytest
from rest_framework.test import APIClient

from executions.models import StoredPayload
from executions.payload_store.writing import refer
from executions.sealing import payload_keys
from runners.models import EarlyCallback
from runners.segment.template_data import callback_url_of
from runners.testing.drive import silent
from runners.testing.harness import Valkyr
from runners.waits.events import NobodyWaits
from tests.support.payload_store import TEXT, use_store

SECRET = {"order": 7, "text": TEXT}
CALLED = """
schema: valkyr/1
name: called
tasks:
  - {id: first, use: flow.approval, with: {title: "{{ tasks.wait.callbackUrl }}"}}
  - {id: wait, use: flow.callback, after: "first:approved", with: {title: t}}
  - {id: read, use: flow.noop, after: "wait:success",
     with: {value: "{{ tasks.wait.output.payload.text | length }}"}}
output: "{{ tasks.read.output }}"
"""
FILTERS = """
schema: valkyr/1
name: waits
tasks:
  - {id: wait, use: flow.wait_for_event, with: {event: paid, filter: "{{ event.order == 7 }}"}}
"""
OTHER = """
schema: valkyr/1
name: other
tasks: [{id: read, use: flow.noop, with: {value: 1}}]
"""


@pytest.fixture
def store(settings, tmp_path) -> Path:
    return use_store(settings, tmp_path)


@pytest.fixture
def valkyr(transactional_db, store) -> Valkyr:
    payload_keys.forget()
    return Valkyr()


def forged(valkyr: Valkyr) -> dict:
    """Return what imitates the reference to the input of another execution."""
    valkyr.start(OTHER, SECRET)
    [row] = StoredPayload.objects.all()
    return dict(refer(row, SECRET))


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("nested", [False, True])
def test_a_callback_cannot_imitate_a_reference(valkyr, early, nested):
    payload = forged(valkyr)
    run = valkyr.start(CALLED, {})
    if not early:
        run.approve("first")

    with silent():
        answer = APIClient(raise_request_exception=False).post(
            callback_url_of(run.id, "wait.main"),
            {"in": payload} if nested else payload,
            format="json",
        )

    assert answer.status_code == 422, answer.content
    assert not EarlyCallback.objects.exists()


def test_a_filter_does_not_load_a_reference_that_a_signal_imitates(valkyr, store):
    payload = forged(valkyr)
    run = valkyr.start(FILTERS, {})
    store.rename(store.with_name("away"))

    with pytest.raises(NobodyWaits):
        run.signal("paid", payload)
