"""Payloads in the admin: hidden without permission, and revealed with a recorded reason."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from executions.models import (
    Activity,
    Event,
    Membership,
    RefusedMessage,
    Trigger,
    Workflow,
    WorkflowUserPermission,
)
from tests.support import admin_rows as rows

pytestmark = pytest.mark.django_db
HIDDEN = "Hidden. You need the permission view_payloads."
# In every payload below, and nowhere else.
PAYLOAD = "partner-of-the-month"
MASKED = "hunter2"


@pytest.fixture(autouse=True)
def _fresh_cache(static_files: None) -> None:
    cache.clear()


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def reader(workflow: Workflow, django_user_model: Any) -> Callable[..., Client]:
    """Return a function that signs in a user who may see the workflow and its executions, with
    further permissions.
    """

    def make(*permissions: str) -> Client:
        user = django_user_model.objects.create(username="ada", is_staff=True)
        user.user_permissions.set(Permission.objects.filter(content_type__app_label="executions"))
        user.user_permissions.remove(
            *Permission.objects.filter(codename__in=["view_payloads", "reveal"])
        )
        Membership.objects.create(
            user=user, workspace=workflow.workspace, role="USER", permissions=list(permissions)
        )
        WorkflowUserPermission.objects.create(
            user=user,
            content_object=workflow,
            permission=Permission.objects.get(codename="read_workflow"),
        )
        client = Client()
        client.force_login(user)
        return client

    return make


@pytest.fixture
def author(workflow: Workflow, django_user_model: Any) -> Client:
    """Return a client of a user who may do everything except reveal and administer."""
    user = django_user_model.objects.create(username="eve", is_staff=True)
    Membership.objects.create(user=user, workspace=workflow.workspace, role="WORKFLOW")
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def pages(workflow: Workflow) -> dict[str, str]:
    """Return a page of each kind that shows payloads."""
    secret = {"note": PAYLOAD, "password": MASKED}
    ended = rows.execution(
        workflow, "FAILED", context_data=secret, output=secret, error_message="it failed"
    )
    type(ended).objects.filter(pk=ended.pk).update(trigger_payload=secret)
    run = rows.run(
        ended,
        inputs=secret,
        outputs=secret,
        overrides=secret,
        logs=[secret],
        wake={"by": "event", "payload": secret, "waitedSeconds": 3},
        error="it failed",
        error_details={"body": PAYLOAD, "traceback": "Traceback …"},
    )
    letter = rows.dead_letter(run)
    type(letter).objects.filter(pk=letter.pk).update(original_config=secret)
    trigger = Trigger.objects.create(
        workflow=workflow, type="QUEUE", settings={"queue": "orders", "broker": None}
    )
    message = RefusedMessage.objects.create(
        trigger=trigger, body=PAYLOAD, headers=secret, code="not_json", reason="No JSON."
    )
    return {
        "execution": reverse("admin:executions_workflowexecution_change", args=[ended.pk]),
        "run": reverse("admin:runners_run_change", args=[run.pk]),
        "letter": reverse("admin:dlq_deadletterentry_change", args=[letter.pk]),
        "message": reverse("admin:executions_refusedmessage_change", args=[message.pk]),
    }


KINDS = ("execution", "run", "letter", "message")
REVEALED = ("execution", "run", "letter")


@pytest.mark.parametrize("kind", KINDS)
def test_who_may_not_see_payloads_sees_what_it_takes(
    reader: Callable[..., Client], pages: dict[str, str], kind: str
) -> None:
    answer = reader().get(pages[kind])

    assert answer.status_code == 200
    assert HIDDEN in answer.content.decode()
    assert PAYLOAD not in answer.content.decode()
    assert MASKED not in answer.content.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_who_may_see_payloads_sees_them_with_secrets_masked(
    reader: Callable[..., Client], pages: dict[str, str], kind: str
) -> None:
    answer = reader("view_payloads").get(pages[kind])

    assert PAYLOAD in answer.content.decode()
    assert HIDDEN not in answer.content.decode()
    assert MASKED not in answer.content.decode()


def test_an_events_payload_is_for_who_may_see_payloads(workflow: Workflow, author: Client) -> None:
    event = Event.objects.create(
        workspace=workflow.workspace, event_id="e", name="told", payload={"n": PAYLOAD}, started=[]
    )
    page = reverse("admin:executions_event_change", args=[event.pk])

    assert PAYLOAD in author.get(page).content.decode()


@pytest.mark.parametrize("permissions", [(), ("view_payloads",)])
def test_lists_and_searches_show_no_payload(
    reader: Callable[..., Client], pages: dict[str, str], permissions: tuple[str, ...]
) -> None:
    client = reader(*permissions)
    for model in ("executions_workflowexecution", "runners_run", "dlq_deadletterentry",
                  "executions_refusedmessage"):  # fmt: skip
        address = reverse(f"admin:{model}_changelist")
        for query in ({}, {"q": "charge"}):
            text = client.get(address, query).content.decode()
            assert PAYLOAD not in text
            assert MASKED not in text
        found = client.get(address, {"q": PAYLOAD})
        assert found.context["cl"].result_count == 0, model


@pytest.mark.parametrize("kind", REVEALED)
def test_a_reveal_shows_the_payloads_once_and_is_kept_with_its_reason(
    reader: Callable[..., Client], pages: dict[str, str], kind: str
) -> None:
    client = reader("reveal")
    address = pages[kind].replace("/change/", "/reveal/")
    body = {"_form_submitted": "True", "reason": "ticket 7"}

    answer = client.post(address, body)

    assert answer.status_code == 200
    assert MASKED in answer.content.decode()
    assert PAYLOAD in answer.content.decode()
    row = Activity.objects.get(action="payload.reveal")
    assert (row.actor_name, row.reason, row.via) == ("ada", "ticket 7", "admin")
    assert MASKED not in client.get(pages[kind]).content.decode()


@pytest.mark.parametrize("kind", REVEALED)
def test_without_a_reason_or_by_get_nothing_is_revealed(
    reader: Callable[..., Client], pages: dict[str, str], kind: str
) -> None:
    client = reader("reveal")
    address = pages[kind].replace("/change/", "/reveal/")

    for answer in (
        client.get(address),
        client.post(address, {"_form_submitted": "True", "reason": " "}),
    ):
        assert answer.status_code == 200
        assert MASKED not in answer.content.decode()
    assert not Activity.objects.filter(action="payload.reveal").exists()


@pytest.mark.parametrize("kind", REVEALED)
def test_who_may_not_reveal_is_neither_offered_it_nor_let(
    author: Client, pages: dict[str, str], kind: str
) -> None:
    address = pages[kind].replace("/change/", "/reveal/")

    assert "/reveal/" not in author.get(pages[kind]).content.decode()
    body = {"_form_submitted": "True", "reason": "curious"}
    assert author.post(address, body).status_code == 403
    assert not Activity.objects.filter(action="payload.reveal").exists()
