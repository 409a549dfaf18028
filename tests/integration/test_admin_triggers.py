"""Triggers, events and rejected messages in the admin: the visibility of secrets, and the effects
of buttons.
"""

from typing import Any
from uuid import UUID

import pytest
from django.core.cache import cache
from django.test import Client

from executions.database.ids import uuid7
from executions.models import (
    Activity,
    Event,
    Membership,
    RefusedMessage,
    Trigger,
    WorkflowExecution,
    Workspace,
)
from executions.triggers.event import publish_event
from executions.triggers.queues import intake
from executions.triggers.queues.message import QueueMessage
from executions.triggers.webhook import secret_of
from tests.support.triggers import NAMED, only_trigger, triggered
from tests.support.workflows import ACTOR, default_workspace

pytestmark = pytest.mark.django_db

TRIGGERS = "/admin/executions/trigger/"
REFUSED = "/admin/executions/refusedmessage/"
EVENTS = "/admin/executions/event/"
ASKED = {"_form_submitted": "True", "reason": "because"}


@pytest.fixture(autouse=True)
def _fresh_cache(static_files: None) -> None:
    cache.clear()


@pytest.fixture
def workspace(db: None) -> Workspace:
    return default_workspace()


def member(django_user_model: Any, workspace: Workspace, role: str) -> Client:
    user = django_user_model.objects.create(username=f"{role}-{workspace.slug}", is_staff=True)
    Membership.objects.create(user=user, workspace=workspace, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def boss(django_user_model: Any, workspace: Workspace) -> Client:
    """Return a client of an administrator of the workspace."""
    return member(django_user_model, workspace, "ADMIN")


@pytest.fixture
def author(django_user_model: Any, workspace: Workspace) -> Client:
    return member(django_user_model, workspace, "WORKFLOW")


@pytest.fixture
def hook(workspace: Workspace) -> Trigger:
    return only_trigger(triggered({"type": "WEBHOOK"}))


def refused(trigger: Trigger, body: bytes = b'{"name": 5}') -> RefusedMessage:
    message = QueueMessage(body, {"source": "shop"}, None, uuid7(), lasting=True)
    assert intake.take(trigger.pk, message).verdict == "refused"
    return RefusedMessage.objects.get(pk=message.token)


@pytest.fixture
def strict(workspace: Workspace) -> Trigger:
    return only_trigger(triggered({"type": "QUEUE", "queue": "orders"}, input=NAMED))


def test_a_webhooks_page_gives_its_address_and_not_its_secret(boss: Client, hook: Trigger) -> None:
    text = boss.get(f"{TRIGGERS}{hook.pk}/change/").content.decode()

    assert f"/v1/hooks/{hook.pk}" in text
    assert "X-Valkyr-Signature" in text
    assert secret_of(hook.pk, 1) not in text


def test_the_secret_is_shown_when_asked_for_and_only_then(boss: Client, hook: Trigger) -> None:
    address = f"{TRIGGERS}{hook.pk}/reveal-secret/"

    question = boss.get(address)
    answer = boss.post(address, ASKED)

    assert secret_of(hook.pk, 1) not in question.content.decode()
    assert answer.status_code == 200
    assert secret_of(hook.pk, 1) in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    audit = Activity.objects.get(action="trigger.reveal")
    assert (audit.object_id, audit.reason) == (str(hook.pk), "because")
    assert not list(boss.get(TRIGGERS).context["messages"])


def test_a_new_secret_is_shown_once(boss: Client, hook: Trigger) -> None:
    answer = boss.post(f"{TRIGGERS}{hook.pk}/rotate-secret/", ASKED)

    assert secret_of(hook.pk, 2) in answer.content.decode()
    assert b'type="submit"' not in answer.content
    hook.refresh_from_db()
    assert hook.secret_version == 2
    page = boss.get(f"{TRIGGERS}{hook.pk}/change/").content.decode()
    assert f"accepted until {hook.former_secret_until:%Y-%m-%d %H:%M} UTC" in page


def test_a_new_secret_may_end_the_former_one_at_once(boss: Client, hook: Trigger) -> None:
    boss.post(f"{TRIGGERS}{hook.pk}/rotate-secret/", {**ASKED, "overlap": "0"})

    hook.refresh_from_db()
    assert (hook.secret_version, hook.former_secret_until) == (2, None)


@pytest.mark.parametrize("action", ["reveal-secret", "rotate-secret"])
def test_authors_do_not_get_the_secret(author: Client, hook: Trigger, action: str) -> None:
    address = f"{TRIGGERS}{hook.pk}/{action}/"

    assert author.get(address).status_code == 403
    answer = author.post(address, ASKED)

    assert answer.status_code == 403
    assert not Activity.objects.filter(action__startswith="trigger.").exists()


def test_other_triggers_have_no_secret_to_show(boss: Client, strict: Trigger) -> None:
    answer = boss.post(f"{TRIGGERS}{strict.pk}/reveal-secret/", ASKED, follow=True)

    assert any("no secret" in str(message) for message in answer.context["messages"])


def test_triggers_are_switched_with_buttons(author: Client, hook: Trigger) -> None:
    author.post(f"{TRIGGERS}{hook.pk}/switch-off/", ASKED)
    hook.refresh_from_db()
    assert not hook.enabled
    assert "no: disabled" in author.get(f"{TRIGGERS}{hook.pk}/change/").content.decode()

    author.post(f"{TRIGGERS}{hook.pk}/switch-on/", ASKED)
    hook.refresh_from_db()
    assert hook.enabled


def test_a_refused_message_is_started_with_another_payload(author: Client, strict: Trigger) -> None:
    message = refused(strict)

    answer = author.post(
        f"{REFUSED}{message.pk}/start-again/", ASKED | {"payload": '{"name": "five"}'}
    )

    execution = WorkflowExecution.objects.get()
    assert answer["Location"].endswith(f"/workflowexecution/{execution.pk}/change/")
    assert execution.trigger_payload == {"name": "five"}
    message.refresh_from_db()
    assert message.execution_id == execution.pk
    assert author.get(REFUSED).context["cl"].result_count == 0


def test_a_refused_message_that_does_not_fit_says_so_again(author: Client, strict: Trigger) -> None:
    message = refused(strict)

    answer = author.post(f"{REFUSED}{message.pk}/start-again/", ASKED, follow=True)

    assert any("params.name" in str(told) for told in answer.context["messages"])
    assert not WorkflowExecution.objects.exists()


def test_refused_messages_are_discarded_together(author: Client, strict: Trigger) -> None:
    kept = [refused(strict) for _ in range(3)]
    chosen = {
        "action": "bulk_discard",
        "_selected_action": [str(message.pk) for message in kept[:2]],
        "newest": str(kept[1].pk),
        "confirmed": "yes",
        **ASKED,
    }

    author.post(REFUSED, chosen)

    assert RefusedMessage.objects.filter(resolution="DISCARDED").count() == 2


def test_another_workspaces_rows_are_not_there(
    django_user_model: Any, workspace: Workspace, strict: Trigger, hook: Trigger
) -> None:
    elsewhere = Workspace.objects.create(slug="elsewhere", name="E", tier=workspace.tier)
    stranger = member(django_user_model, elsewhere, "ADMIN")
    message = refused(strict)
    publish_event(workspace, "order.created", {}, actor=ACTOR)

    for address in (TRIGGERS, REFUSED, EVENTS):
        assert stranger.get(address).context["cl"].result_count == 0
    assert stranger.post(f"{REFUSED}{message.pk}/discard/", ASKED).status_code == 403
    assert stranger.post(f"{TRIGGERS}{hook.pk}/reveal-secret/", ASKED).status_code == 403


def test_an_event_shows_what_became_of_it(author: Client, workspace: Workspace) -> None:
    triggered({"type": "EVENT", "event": "order.created"})
    triggered({"type": "EVENT", "event": "order.created"}, input=NAMED)
    told = publish_event(workspace, "order.created", {"total": 7}, actor=ACTOR).event

    text = author.get(f"{EVENTS}{told.pk}/change/").content.decode()
    found = author.get(EVENTS, {"q": "order.cre"}).context["cl"]

    assert "1 started, 1 rejected" in text
    assert str(WorkflowExecution.objects.get().pk) in text
    assert "&#x27;name&#x27; is a required property" in text
    assert [row.pk for row in found.result_list] == [told.pk]
    assert isinstance(Event.objects.get().pk, UUID)
