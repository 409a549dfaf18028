"""Failure groups in the admin: the list, its order, and users' changes."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from dlq.models import DeadLetterEntry, FailureGroup, GroupHour, GroupNote
from executions.models import Activity, Membership, Workflow
from tests.support import admin_rows as rows

pytestmark = pytest.mark.django_db
GROUPS = "/admin/dlq/failuregroup/"


@pytest.fixture(autouse=True)
def _fresh_cache(static_files: None) -> None:
    cache.clear()


@pytest.fixture
def boss(django_user_model: Any) -> Any:
    return django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)


@pytest.fixture
def op(client: Client, boss: Any) -> Client:
    client.force_login(boss)
    return client


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def group(workflow: Workflow) -> Callable[..., FailureGroup]:
    """Return a function that creates a group of one dead letter with these columns."""

    def make(**columns: Any) -> FailureGroup:
        number = FailureGroup.objects.count()
        ended = rows.execution(workflow, "FAILED", error_message="it failed")
        entry = rows.dead_letter(rows.run(ended, f"s{number}.main"), fingerprint=f"{number:064d}")
        made = FailureGroup.objects.filter(pk=entry.group_id)
        made.update(**({"total": 1, "open": 1} | columns))
        return made.get()

    return make


def _ids(client: Client, query: str = "") -> list[Any]:
    answer = client.get(f"{GROUPS}{query}", follow=True)
    assert answer.status_code == 200
    assert not answer.redirect_chain, f"{query} is not understood"
    return [row.pk for row in answer.context["cl"].result_list]


def test_the_list_opens_on_what_needs_somebody(
    op: Client, group: Callable[..., FailureGroup]
) -> None:
    made = {
        status: group(status=status).pk
        for status in ("NEW", "ACKNOWLEDGED", "REGRESSED", "REDRIVING", "SNOOZED", "RESOLVED")
    }
    group(merged_into_id=made["NEW"])

    opened = {made[status] for status in ("NEW", "ACKNOWLEDGED", "REGRESSED", "REDRIVING")}
    assert set(_ids(op)) == opened
    assert _ids(op, "?status=snoozed") == [made["SNOOZED"]]
    assert set(_ids(op, "?status=all")) == set(made.values())


@pytest.mark.parametrize("order", ["seen", "open", "count", "growth", "odd"])
def test_every_order_is_paged_without_loss(
    op: Client,
    group: Callable[..., FailureGroup],
    order: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dlq.admin.groups.FailureGroupAdmin.list_per_page", 2)
    now = timezone.now()
    hour = now.replace(minute=0, second=0, microsecond=0)
    made = []
    for n in range(5):
        one = group(total=n // 2, open=n // 3, last_seen=now - timedelta(hours=n // 2))
        GroupHour.objects.create(group=one, hour=hour, count=n // 2)
        made.append(one.pk)

    address, seen = f"?order={order}", []
    while address:
        shown = op.get(GROUPS + address).context["cl"]
        seen.append([row.pk for row in shown.result_list])
        address = shown.next_page
    assert sorted(pk for page in seen for pk in page) == sorted(made)
    assert [len(page) for page in seen] == [2, 2, 1]
    if order in ("count", "growth"):
        assert seen[0] == [made[4], made[3]]
    back = op.get(GROUPS + shown.previous_page).context["cl"]
    assert [row.pk for row in back.result_list] == seen[1]


def test_filters_narrow_the_list(op: Client, boss: Any, group: Callable[..., FailureGroup]) -> None:
    mine, old, growing = (
        group(owner=boss),
        group(last_seen=timezone.now() - timedelta(days=9)),
        group(exception="Odd", module="sql.query", message="no such table"),
    )
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    GroupHour.objects.create(group=growing, hour=hour, count=3)
    GroupHour.objects.create(group=mine, hour=hour - timedelta(hours=30), count=3)

    assert _ids(op, "?owner=me") == [mine.pk]
    assert set(_ids(op, "?owner=nobody")) == {old.pk, growing.pk}
    assert set(_ids(op, "?since=7d")) == {mine.pk, growing.pk}
    assert _ids(op, "?growth=up") == [growing.pk] == _ids(op, "?growth=up&order=growth")
    assert _ids(op, "?growth=down") == [mine.pk]
    assert _ids(op, "?exception=Odd&module=sql.query") == [growing.pk]
    assert _ids(op, "?q=such+table") == [growing.pk]
    assert len(_ids(op, f"?workflow={mine.workflow_id}")) == 3
    assert _ids(op, f"?workflow={mine.pk}") == []


def test_groups_of_other_workspaces_are_not_there(
    group: Callable[..., FailureGroup], django_user_model: Any
) -> None:
    made = group()
    user = django_user_model.objects.create(username="ada", is_staff=True)
    Membership.objects.create(user=user, workspace=rows.workspace("other"), role="ADMIN")
    ada = Client()
    ada.force_login(user)

    assert _ids(ada, "?status=all") == []
    assert ada.get(f"{GROUPS}{made.pk}/change/").status_code in (302, 403, 404)
    assert ada.post(f"{GROUPS}{made.pk}/acknowledge/", {"_form_submitted": "on"}).status_code == 403


def test_who_only_reads_is_offered_nothing_to_do(
    workflow: Workflow, group: Callable[..., FailureGroup], django_user_model: Any
) -> None:
    from tests.support.sharing import assign_perm

    made = group()
    user = django_user_model.objects.create(username="ada", is_staff=True)
    Membership.objects.create(user=user, workspace=workflow.workspace, role="USER")
    assign_perm("read_workflow", user, workflow)
    ada = Client()
    ada.force_login(user)
    page = ada.get(f"{GROUPS}{made.pk}/change/")

    assert page.status_code == 200
    assert page.context["buttons"] == []
    assert b"Redrive\xe2\x80\xa6" not in page.content
    ada.post(f"{GROUPS}{made.pk}/acknowledge/", {"_form_submitted": "on"})
    made.refresh_from_db()
    assert made.status == "NEW"


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("acknowledge", {}, {"status": "ACKNOWLEDGED"}),
        ("assign", {"owner": "op"}, {"owner__username": "op"}),
        ("snooze", {"nap": "", "more": "10", "version": ""}, {"snoozed_total": 11}),
        ("snooze", {"nap": "1d", "version": "3"}, {"status": "SNOOZED", "snoozed_version": 3}),
        ("resolve", {"version": "4"}, {"status": "RESOLVED", "resolved_in": 4}),
        ("ignore", {}, {"status": "IGNORED"}),
        ("mute", {}, {"muted": True}),
    ],
    ids=str,
)
def test_several_groups_are_changed_together(
    op: Client,
    group: Callable[..., FailureGroup],
    name: str,
    data: dict[str, str],
    expected: dict[str, Any],
) -> None:
    made = [group(), group()]
    form = {"action": f"bulk_{name}", "_selected_action": [str(one.pk) for one in made]}

    assert b"2 failure groups" in op.post(GROUPS, form).content
    op.post(GROUPS, form | {"confirmed": "yes", "_form_submitted": "on", "reason": "so"} | data)

    assert FailureGroup.objects.filter(**expected).count() == 2
    assert Activity.objects.filter(action__startswith="group.").count() == 2


def test_groups_are_merged_and_their_dead_letters_shown_together(
    op: Client, group: Callable[..., FailureGroup]
) -> None:
    target, source = group(), group()
    form = {"_form_submitted": "on", "target": str(target.pk), "reason": "the same"}

    op.post(f"{GROUPS}{source.pk}/merge/", form)

    source.refresh_from_db()
    assert source.merged_into_id == target.pk
    assert DeadLetterEntry.objects.filter(group=target).count() == 2
    assert b"Merged into" in op.get(f"{GROUPS}{source.pk}/change/").content
    shown = op.post(GROUPS, {"action": "show_entries", "_selected_action": str(target.pk)})
    assert shown["Location"].endswith(f"deadletterentry/?group={target.pk}")


def test_the_page_says_what_fails_and_hostile_text_stays_text(
    op: Client, group: Callable[..., FailureGroup]
) -> None:
    made = group(message=rows.HOSTILE, sample=rows.HOSTILE, total=12)
    group(message=rows.HOSTILE)
    GroupNote.objects.create(group=made, author_name="ada", text=rows.HOSTILE)
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    GroupHour.objects.create(group=made, hour=hour, count=7)

    page = op.get(f"{GROUPS}{made.pk}/change/").content.decode()

    assert "has failed 12 times" in page
    assert "7 in the last 24 hours" in page
    assert "<script>alert" not in page
    assert "<b>bold" not in page
    assert "message, exception and module" in page


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("snooze", {"nap": ""}, "Enter a duration"),
        ("assign", {"owner": "nobody-known"}, "There is no user"),
        ("merge", {"target": "x"}, "Select a valid choice"),
        ("note", {"text": ""}, "This field is required"),
        ("resolve", {"version": "0"}, "greater than or equal to 1"),
    ],
)
def test_a_question_answered_wrongly_is_asked_again(
    op: Client, group: Callable[..., FailureGroup], name: str, data: dict[str, str], said: str
) -> None:
    made = group()

    answer = op.post(f"{GROUPS}{made.pk}/{name}/", {"_form_submitted": "on", **data})

    assert said in answer.content.decode()
    assert not Activity.objects.filter(action__startswith="group.").exists()


def test_tabs_show_how_many_groups_are_behind_them(
    op: Client, group: Callable[..., FailureGroup]
) -> None:
    for status in ("NEW", "NEW", "ACKNOWLEDGED", "RESOLVED"):
        group(status=status)
    group(status="NEW", exception="Odd")

    tabs = op.get(GROUPS).context["cl"].tabs
    narrowed = op.get(f"{GROUPS}?exception=Odd&status=resolved").context["cl"].tabs

    assert [tab["count"] for tab in tabs] == [4, 3, 0, 0, 1, 0, 5]
    assert [tab["count"] for tab in narrowed] == [1, 1, 0, 0, 0, 0, 1]


def test_too_many_groups_are_not_counted_for_tabs(
    op: Client, group: Callable[..., FailureGroup], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlq.admin.groups_filters.COUNTED", 2)
    for _ in range(3):
        group()

    answer = op.get(GROUPS)

    assert {tab["count"] for tab in answer.context["cl"].tabs} == {None}
    assert b"vk-tab-count" not in answer.content


def test_a_group_is_exported_from_its_page(op: Client, group: Callable[..., FailureGroup]) -> None:
    made, _ = group(), group()

    address = op.get(f"{GROUPS}{made.pk}/change/").context["export"]

    assert b"Exports 1 dead letter as one JSON object." in op.get(address).content
    lines = b"".join(op.post(address).streaming_content).splitlines()
    assert len(lines) == 1
