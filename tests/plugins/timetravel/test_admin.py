"""Tests of checkpoints, roll-back, fork, replay and verification on an execution's admin pages."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from executions.models import Membership, Workflow, WorkflowExecution
from runners.models import Run
from tests.support.engine_database import engine_database
from tests.support.jobs import working
from tests.support.sharing import assign_perm
from tests.support.single_thread import World, configured, world
from tests.support.workflows import (
    ACTOR,
    default_workspace,
    effect,
    publish,
    start,
    states,
)
from valkyr_plugins.timetravel import checkpoints, verification
from valkyr_plugins.timetravel.admin.verification import VERIFY
from valkyr_plugins.timetravel.fork import fork
from valkyr_plugins.timetravel.models import Checkpoint

PAGES = "/admin/executions/workflowexecution/"


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, static_files: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Replace the broker; the test runs the workers."""
    quiet = world(Random(0), monkeypatch, lose=0, double=0, die=0)
    with quiet as made, configured(stretch_steps=32, segment_steps=32):
        yield made


@pytest.fixture
def op(queue: World) -> Client:
    """Return a superuser's client."""
    boss, _ = get_user_model().objects.get_or_create(
        username="op", defaults={"is_staff": True, "is_superuser": True}
    )
    client = Client()
    client.force_login(boss)
    return client


DOCUMENT = {
    "variables": {"stage": "new"},
    "tasks": [
        effect("one"),
        effect("two", "one"),
        effect("bad", "two", failTimes=1, errorType="PERMANENT", value=1),
    ],
}


@pytest.fixture
def failed(queue: World) -> UUID:
    pk = start(publish(DOCUMENT))
    queue.drain()
    assert states([pk])[pk] == "FAILED"
    return pk


def ask(client: Client, pk: UUID, name: str) -> str:
    answer = client.get(f"{PAGES}{pk}/{name}/")
    assert answer.status_code == 200
    return answer.content.decode()


def act(client: Client, pk: UUID, operation: str, /, **body: Any) -> tuple[Any, list[str]]:
    answer = client.post(
        f"{PAGES}{pk}/{operation}/", {"_form_submitted": "True", **body}, follow=True
    )
    told = answer.context["messages"] if answer.context and "messages" in answer.context else []
    return answer, [str(message) for message in told]


def test_a_checkpoint_is_taken_and_shown(op: Client, failed: UUID) -> None:
    ask(op, failed, "checkpoint")
    _, told = act(op, failed, "checkpoint", name="as it was")

    assert told == ["1 marked by a checkpoint."]
    assert Checkpoint.objects.get(execution_id=failed, kind="MANUAL").created_by is not None
    page = op.get(f"{PAGES}{failed}/change/").content.decode()
    assert "as it was" in page


def test_back_to_one_of_the_points_that_are_offered(op: Client, failed: UUID, queue: World) -> None:
    taken = checkpoints.take_by_hand(failed, name="late", actor=ACTOR)
    form = ask(op, failed, "roll-back")
    assert "right after step one.main" in form
    assert f"checkpoint:{taken.pk}" in form
    assert "step:bad.main" not in form

    _, told = act(op, failed, "roll-back", point="step:one.main", reason="try")

    assert told == ["1 rolled back."]
    queue.drain()
    assert states([failed])[failed] == "SUCCESS"
    assert Run.objects.filter(execution_id=failed, step_path="two.main").count() == 2
    answer, _ = act(op, failed, "roll-back", point="step:nowhere.main")
    assert "Fork it instead" in ask(op, failed, "roll-back") or answer.status_code == 200
    assert "once" in op.get(f"{PAGES}{failed}/change/").content.decode()


def test_a_checkpoint_is_named_by_what_it_has(op: Client, failed: UUID) -> None:
    assert str(checkpoints.take_by_hand(failed, name="", actor=ACTOR)) == "#1"
    checkpoints.take_by_hand(failed, name="late", actor=ACTOR)
    forked = fork(failed, step_path="two.main", actor=ACTOR).pk

    offered = ask(op, failed, "roll-back")
    assert ">checkpoint #1<" in offered
    assert ">checkpoint #2: late<" in offered
    assert ">checkpoint #0: the start of the fork<" in ask(op, forked, "roll-back")
    assert "the start of the fork" in op.get(f"{PAGES}{forked}/change/").content.decode()
    assert str(Checkpoint.objects.get(execution_id=forked)) == "#0"


def test_a_point_that_was_not_offered_is_refused(op: Client, failed: UUID) -> None:
    answer, _ = act(op, failed, "roll-back", point="step:bad.main")
    assert "Select a valid choice" in answer.content.decode()
    assert WorkflowExecution.objects.get(pk=failed).epoch == 0


def test_a_fork_leads_to_its_page(op: Client, failed: UUID, queue: World) -> None:
    ask(op, failed, "fork")
    answer, _ = act(
        op, failed, "fork", step="bad.main", version="pinned", inputs='{"failTimes": 0}'
    )

    made = WorkflowExecution.objects.get(origin_id=failed)
    assert answer.redirect_chain[-1][0] == f"{PAGES}{made.pk}/change/"
    assert str(failed) in answer.content.decode()
    queue.drain()
    assert states([made.pk])[made.pk] == "SUCCESS"


def test_a_fork_that_does_not_fit_says_why(op: Client, failed: UUID) -> None:
    _, told = act(op, failed, "fork", version="pinned", inputs='{"value": 1}')
    assert any("Enter the step" in message for message in told)
    _, told = act(op, failed, "fork", step="nowhere", version="pinned")
    assert any("no run of step nowhere" in message for message in told)
    _, told = act(op, failed, "fork", version="pinned", variables='{"x": 1}')
    assert any("overrides.variables.x" in message for message in told)
    assert not WorkflowExecution.objects.filter(origin_id=failed).exists()


def helper(*permissions: str) -> Client:
    """Return a client of a staff user who may view and start the workflows, with these permissions
    on each.
    """
    user, _ = get_user_model().objects.get_or_create(username="helper", is_staff=True)
    Membership.objects.get_or_create(
        user=user, workspace=default_workspace(), defaults={"role": "USER"}
    )
    for workflow in Workflow.objects.all():
        for code in ("read_workflow", "execute_workflow", *permissions):
            assign_perm(code, user, workflow)
    client = Client()
    client.force_login(user)
    return client


FIELDS = ("step", "inputs", "variables")


def test_a_fork_offers_what_the_person_may_change(failed: UUID) -> None:
    def hidden(client: Client) -> list[str]:
        page = ask(client, failed, "fork")
        inputs = re.findall(r"<input[^>]*type=\"hidden\"[^>]*>", page)
        return [name for name in FIELDS if any(f'name="{name}"' in tag for tag in inputs)]

    assert hidden(helper()) == ["step", "inputs", "variables"]
    assert hidden(helper("write_workflow")) == []


@pytest.mark.parametrize(
    "given",
    [
        {"step": "two.main"},
        {"step": "bad.main", "inputs": '{"value": 2}'},
        {"variables": '{"stage": "x"}'},
    ],
)
def test_a_fork_with_what_was_not_offered_is_refused(failed: UUID, given: dict[str, str]) -> None:
    answer, _ = act(helper(), failed, "fork", version="pinned", **given)

    assert "Ask an administrator" in answer.content.decode()
    assert not WorkflowExecution.objects.filter(origin_id=failed).exists()


def test_a_fork_from_the_start_is_anybodys_who_may_start(failed: UUID) -> None:
    act(helper(), failed, "fork", version="pinned", payload='{"n": 1}')
    made = WorkflowExecution.objects.get(origin_id=failed)
    assert (made.origin_point, made.trigger_payload) == ("start", {"n": 1})


def test_a_replay_leads_to_its_page(op: Client, failed: UUID) -> None:
    answer, _ = act(op, failed, "replay", reason="")
    made = WorkflowExecution.objects.get(origin_id=failed)
    assert answer.redirect_chain[-1][0] == f"{PAGES}{made.pk}/change/"
    assert "the same input again" in answer.content.decode()


def test_verifying_tells_what_would_come_out_otherwise(op: Client, failed: UUID) -> None:
    with working():
        _, told = act(op, failed, "verify")
    assert told == [f"1 {VERIFY.done}."]
    assert "No differences." in op.get(f"{PAGES}{failed}/change/").content.decode()
    Run.objects.filter(execution_id=failed, step_path="one.main").update(inputs_hash="x")
    with working():
        act(op, failed, "verify")
    page = op.get(f"{PAGES}{failed}/change/").content.decode()
    assert "inputsHash" in page
    assert "recomputed at the request of op." in page


def test_a_verification_that_is_not_done_yet_says_so(op: Client, failed: UUID) -> None:
    verification.request(failed, "op")

    page = op.get(f"{PAGES}{failed}/change/").content.decode()

    assert "The verification is queued. Reload the page to see the result." in page
