"""The admin's first page: its contents for each user, even if something is missing.

`.ci/test` also runs these tests with every plugin left out.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import format_html

from dlq.admin.dashboard import facts
from dlq.admin.dashboard.blocks import BLOCKS, SECTIONS
from dlq.models import FailureGroup, GroupHour
from dlq.public.dashboard import (
    Banner,
    BlockView,
    Card,
    HomeBlock,
    HomeProblem,
    HomeSection,
    add_block,
    add_section,
)
from executions.database.clock import database_now
from executions.models import Membership, Trigger, Workflow
from runners.models import Run, Runner
from tests.support import admin_rows as rows
from tests.support.sharing import assign_perm

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]


@pytest.fixture(autouse=True)
def fresh() -> None:
    cache.clear()


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def op(django_user_model: Any) -> Client:
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


def member(django_user_model: Any, name: str, of: Workflow, role: str) -> Client:
    user = django_user_model.objects.create_user(name, is_staff=True)
    Membership.objects.create(user=user, workspace=of.workspace, role=role)
    client = Client()
    client.force_login(user)
    return client


def said(client: Client, address: str = "/admin/") -> str:
    cache.clear()
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def card(client: Client, title: str, address: str = "/admin/") -> str:
    cache.clear()
    cards = {one.title: one.shown for one in client.get(address).context["cards"]}
    return cards[title]


def test_an_empty_installation_shows_the_first_steps_and_no_worker(op: Client) -> None:
    text = said(op)

    assert "No executions yet" in text
    assert "No worker has reported" in text
    [banner] = op.get("/admin/").context["banners"]
    assert banner.command.startswith("celery -A valkyr_project worker -Q default ")


def test_workers_that_stop_responding_are_reported(op: Client, workflow: Workflow) -> None:
    runner = Runner.objects.create(
        name="io@box", host="box", pid=1, pool="threads", queues=["io"],
        seen_at=database_now() - timedelta(seconds=20),
    )  # fmt: skip
    assert "have not reported" not in said(op)
    assert headline(op) == "Nothing needs attention: 1 worker is live, and no queue is slow"

    Runner.objects.filter(pk=runner.pk).update(seen_at=database_now() - timedelta(seconds=36))
    assert "Workers have not reported for 36" in said(op)
    assert headline(op) == "No worker is live"

    Runner.objects.filter(pk=runner.pk).update(seen_at=database_now() - timedelta(minutes=5))

    assert "Workers have not reported for 5 min" in said(op)


def test_a_queue_with_work_and_no_worker_names_the_command(op: Client, workflow: Workflow) -> None:
    Runner.objects.create(name="io@box", host="box", pid=1, pool="threads", queues=["io"])
    live = rows.execution(workflow)
    rows.run(live, state="PENDING", queue="io", started_at=None)
    assert "No worker serves this queue" not in said(op)

    rows.run(live, "other.main", "PENDING", queue="gpu", started_at=None)

    text = said(op)
    assert "1 step has been waiting in the queue &#x27;gpu&#x27;" in text
    assert "celery -A valkyr_project worker -Q gpu" in text


def test_a_retry_that_is_not_due_waits_for_nobody(op: Client, workflow: Workflow) -> None:
    Runner.objects.create(name="io@box", host="box", pid=1, pool="threads", queues=["io"])
    later = database_now() + timedelta(minutes=5)
    rows.run(
        rows.execution(workflow), state="PENDING", queue="gpu", started_at=None, retry_after=later
    )

    assert "No worker serves this queue" not in said(op)


def test_a_worker_shows_the_steps_that_it_runs(op: Client, workflow: Workflow) -> None:
    Runner.objects.create(name="io@box-1", host="box-1", pid=1, pool="threads", queues=["io"])
    live = rows.execution(workflow)
    for number in range(7):
        rows.run(live, f"charge{number}.main", "RUNNING", leased_by="io@box-1|boot|4711")

    text = said(op)

    assert "charge<wbr>" not in text
    assert "charge0.<wbr>main" in text
    assert "and 2 more" in text


def test_two_people_who_see_the_same_share_what_is_kept(
    django_user_model: Any, workflow: Workflow
) -> None:
    ann = member(django_user_model, "ann", workflow, "WORKFLOW")
    bob = member(django_user_model, "bob", workflow, "WORKFLOW")
    stranger = member(
        django_user_model, "cy", rows.workflow("w", owner=rows.workspace("elsewhere")), "ADMIN"
    )
    assert card(ann, "Running") == "0"
    rows.execution(workflow)

    shown = [client.get("/admin/").context["cards"][0].shown for client in (ann, bob, stranger)]

    assert shown == ["0", "0", "0"]
    assert card(bob, "Running") == "1"
    assert card(stranger, "Running") == "0"


def refuse(*_: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")


@pytest.mark.parametrize("broken", ["queues", "busy", "_groups"])
def test_what_cannot_be_had_leaves_the_rest(
    op: Client, workflow: Workflow, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    rows.execution(workflow)
    monkeypatch.setattr(facts, broken, refuse)

    text = said(op)

    assert "not available" in text.lower() or broken == "busy"
    assert card(op, "Running") == "1"


def test_workers_that_cannot_be_read_are_not_reported_as_stopped(
    op: Client, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    Runner.objects.create(name="io@box", host="box", pid=1, pool="threads", queues=["io"])
    rows.run(rows.execution(workflow), state="PENDING", queue="io", started_at=None)
    monkeypatch.setattr(facts, "_workers", refuse)

    text = said(op)

    assert "No worker" not in text
    assert text.count("Not available: the database did not answer in time.") == 2
    assert "not available" in headline(op)


def test_a_statement_that_takes_too_long_is_ended(
    op: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(*_: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(60)")

    monkeypatch.setattr("executions.database.time_limits.PATIENCE_MS", 20)
    monkeypatch.setattr(facts, "_oldest_letter", sleep)
    monkeypatch.setattr(facts, "bounded_count", sleep)

    assert card(op, "Running") == "not available"


def test_database_errors_alone_are_forgiven() -> None:
    from executions.database.time_limits import soon

    with pytest.raises(ZeroDivisionError):
        soon(lambda: 1 // 0)
    assert soon(_fails) is None


def _fails() -> None:
    raise DatabaseError


def some_of_each(of: Workflow) -> None:
    """Create running, waiting, dead and due executions, with a worker."""
    number = Runner.objects.count()
    Runner.objects.create(
        name=f"io@box-{number}", host="box", pid=number, pool="threads", queues=["io"]
    )
    live = rows.execution(of)
    rows.run(live, "charge.main", "RUNNING", leased_by=f"io@box-{number}|1")
    rows.run(live, "render.main", "PENDING", queue="gpu", started_at=None)
    rows.execution(of, "PENDING")
    GroupHour.objects.update_or_create(
        group=rows.failed_order(of).group,
        hour=database_now().replace(minute=0, second=0, microsecond=0),
        defaults={"count": 12},
    )
    Trigger.objects.create(
        workflow=of,
        type="CRON",
        settings={"cron": "0 6 * * *"},
        next_at=database_now() + timedelta(hours=2),
    )


def test_the_page_shows_what_runs_waits_is_dead_and_is_due(op: Client, workflow: Workflow) -> None:
    some_of_each(workflow)

    page = op.get("/admin/")

    shown = {one.title: one.shown for one in page.context["cards"]}
    assert shown["Running"] == shown["Pending"] == shown["Open dead letters"] == "1"
    columns = [*page.context["problems"], *page.context["panels"]]
    tables = {one.title: len(one.rows) for column in columns for one in column}
    assert {
        "Fastest-growing failures": 1, "Latest failures": 1, "Workers": 1, "Due next": 1,
    }.items() <= tables.items()  # fmt: skip


def test_the_page_costs_as_many_statements_with_many_rows_as_with_few(
    op: Client, workflow: Workflow
) -> None:
    def cost() -> int:
        cache.clear()
        with CaptureQueriesContext(connection) as seen:
            op.get("/admin/")
        return len(seen)

    some_of_each(workflow)
    few = cost()
    for _ in range(3):
        some_of_each(workflow)

    assert cost() == few


def test_hostile_names_are_text(op: Client, workflow: Workflow) -> None:
    Workflow.objects.filter(pk=workflow.pk).update(name=rows.HOSTILE)
    some_of_each(workflow)

    page = said(op)

    assert "<script>alert" not in page
    assert "<b>bold" not in page


@pytest.mark.parametrize(
    ("role", "granted", "seen"),
    [("WORKFLOW", False, "1"), ("USER", False, "0"), ("USER", True, "1")],
)
def test_what_is_counted_is_what_the_person_may_see(
    django_user_model: Any, workflow: Workflow, role: str, granted: bool, seen: str
) -> None:
    for of in (workflow, rows.workflow("other", owner=rows.workspace("elsewhere"))):
        rows.execution(of)
    client = member(django_user_model, "ann", workflow, role)
    if granted:
        assign_perm("read_workflow", django_user_model.objects.get(username="ann"), workflow)

    assert card(client, "Running") == seen


def section(gather: Any) -> HomeSection:
    return HomeSection(
        name="parcels",
        title="Parcels on their way",
        headers=("Parcel",),
        gather=gather,
        rows=lambda found: [[name] for name in found],
    )


@pytest.fixture
def sections() -> Iterator[None]:
    before = dict(SECTIONS)
    yield
    SECTIONS.clear()
    SECTIONS.update(before)


@pytest.mark.usefixtures("sections")
@pytest.mark.parametrize(
    ("gather", "text"),
    [
        (lambda _: ["Lamp <1>"], "Lamp &lt;1&gt;"),
        (refuse, "Not available"),
    ],
)
def test_a_plugins_section_is_on_the_home_page(op: Client, gather: Any, text: str) -> None:
    add_section(section(gather))

    page = said(op)

    assert "Parcels on their way" in page
    assert text in page
    assert card(op, "Running") == "0"


@pytest.mark.usefixtures("sections")
def test_a_section_without_rows_is_not_shown(op: Client) -> None:
    add_section(section(lambda _: []))

    assert "Parcels on their way" not in said(op)


def headline(client: Client) -> str:
    cache.clear()
    return str(client.get("/admin/").context["verdict"].headline)


def problems(client: Client) -> list[str]:
    cache.clear()
    return [one.text for one in client.get("/admin/").context["verdict"].problems]


def live_worker() -> None:
    Runner.objects.create(name="io@box", host="box", pid=1, pool="threads", queues=["io"])


def test_nothing_wrong_is_said_in_one_sentence(op: Client, workflow: Workflow) -> None:
    live_worker()
    rows.execution(workflow, "SUCCESS")

    assert headline(op) == "Nothing needs attention: 1 worker is live, and no queue is slow"
    assert problems(op) == []


def test_what_is_wrong_is_listed_with_the_list_behind_it(op: Client, workflow: Workflow) -> None:
    live_worker()
    some_of_each(workflow)
    rows.execution(workflow, "PAUSED")
    Trigger.objects.update(next_at=database_now() - timedelta(minutes=5))

    assert headline(op) == "5 items need attention"
    assert problems(op) == [
        "1 new failure group in the last 24 hours",
        "1 open dead letter",
        "1 execution waits for a slot of its workspace",
        "1 execution is paused",
        "The schedule of Order import is late",
    ]
    assert said(op).count('href="/admin/dlq/deadletterentry/?resolution=open"') >= 2


def test_a_new_group_that_is_resolved_needs_no_attention(op: Client, workflow: Workflow) -> None:
    live_worker()
    letter = rows.failed_order(workflow)
    hour = database_now().replace(minute=0, second=0, microsecond=0)
    GroupHour.objects.create(group_id=letter.group_id, hour=hour, count=1)
    assert problems(op)[0] == "1 new failure group in the last 24 hours"

    FailureGroup.objects.update(status="RESOLVED")

    assert problems(op) == ["1 open dead letter"]


def test_a_slow_queue_needs_attention(op: Client, workflow: Workflow) -> None:
    live_worker()
    run = rows.run(rows.execution(workflow), "charge.main", "PENDING", queue="io", started_at=None)
    Run.objects.filter(pk=run.pk).update(queued_at=database_now() - timedelta(minutes=3))

    assert problems(op) == ["Queue io is slow: 1 step waits for a worker"]


def test_an_idle_queue_whose_worker_stopped_responding_needs_attention(
    op: Client, workflow: Workflow
) -> None:
    live_worker()
    rows.execution(workflow, "SUCCESS")
    lost = Runner.objects.create(
        name="mail@box", host="box", pid=2, pool="threads", queues=["mail", "io"],
        seen_at=database_now() - timedelta(minutes=2),
    )  # fmt: skip

    assert problems(op) == ["Queue mail has no live worker"]
    assert "Queue mail has no live worker" in said(op)

    lost.leaving_at = lost.seen_at
    lost.save()
    assert problems(op) == []

    Runner.objects.filter(pk=lost.pk).update(leaving_at=None, pool="remote")
    assert problems(op) == []


@pytest.mark.usefixtures("sections")
def test_a_plugins_section_may_need_attention(op: Client, workflow: Workflow) -> None:
    live_worker()
    rows.execution(workflow, "SUCCESS")
    lost = replace(
        section(lambda _: ["Lamp", "Desk"]),
        problem=lambda number: HomeProblem(f"{number} parcels are lost", "package", "/parcels"),
    )
    add_section(lost)

    assert problems(op) == ["2 parcels are lost"]


def test_facts_that_are_missing_are_not_taken_for_good_news(
    op: Client, workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_worker()
    rows.execution(workflow, "SUCCESS")
    monkeypatch.setattr(facts, "queues", refuse)

    assert "not available" in headline(op)


@pytest.mark.usefixtures("sections")
def test_two_sections_of_one_name_are_refused() -> None:
    add_section(section(lambda _: []))

    with pytest.raises(ValueError, match="has a section 'parcels' already"):
        add_section(section(lambda _: []))


def parcels(gather: Any) -> HomeBlock:
    return HomeBlock(
        name="parcels",
        variant=lambda request: request.GET.get("depot", ""),
        gather=gather,
        show=lambda request, found: BlockView(
            cards=[Card("Parcels", "package", found, "on their way", "/parcels")],
            banners=[Banner("A parcel is lost.")],
            above=format_html("<p>Depot {}</p>", request.GET.get("depot", "")),
            below=format_html("<p>{}</p>", "The <last> parcel"),
        ),
    )


@pytest.fixture
def blocks() -> Iterator[None]:
    before = dict(BLOCKS)
    yield
    BLOCKS.clear()
    BLOCKS.update(before)


@pytest.mark.usefixtures("blocks")
def test_a_plugins_block_has_cards_banners_and_html(op: Client) -> None:
    add_block(parcels(lambda request: len(request.GET["depot"])))

    page = said(op, "/admin/?depot=north")

    assert "A parcel is lost." in page
    assert "<p>Depot north</p>" in page
    assert "<p>The &lt;last&gt; parcel</p>" in page
    assert card(op, "Parcels", "/admin/?depot=north") == "5"


@pytest.mark.usefixtures("blocks")
def test_what_is_kept_of_a_block_is_kept_by_its_variant(op: Client) -> None:
    add_block(parcels(lambda request: len(request.GET["depot"])))

    shown = [
        {one.title: one.shown for one in op.get(f"/admin/?depot={depot}").context["cards"]}
        for depot in ("north", "east")
    ]

    assert [cards["Parcels"] for cards in shown] == ["5", "4"]


@pytest.mark.usefixtures("blocks")
def test_a_block_that_cannot_be_had_leaves_the_rest(op: Client) -> None:
    add_block(parcels(refuse))

    assert card(op, "Parcels") == "not available"
    assert card(op, "Running") == "0"


@pytest.mark.usefixtures("blocks")
def test_two_blocks_of_one_name_are_refused() -> None:
    add_block(parcels(refuse))

    with pytest.raises(ValueError, match="has a block 'parcels' already"):
        add_block(parcels(refuse))
