"""Failure groups: rows of failing steps, counters, and users' changes."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dlq.events import group_new, group_regressed
from dlq.groups import operations, status, tally
from dlq.groups.errors import BadTerms, CannotOwn
from dlq.groups.facets import breakdown
from dlq.models import (
    FailureGroup,
    GroupHour,
    GroupNews,
    GroupStatus,
    GroupVersion,
    Resolution,
)
from dlq.resolve import transitions
from dlq.resolve.discard import discard
from executions.access.actor import Actor
from executions.errors import NotFound, WrongState
from executions.models import Activity, Membership, Workflow, Workspace
from tests.support import admin_rows
from tests.support.failures import fail, group

pytestmark = pytest.mark.django_db
ANN = Actor(None, "ann", "test")
S = GroupStatus


@pytest.fixture
def orders() -> Workflow:
    return admin_rows.workflow()


@pytest.fixture
def told() -> Any:
    """Record signals about groups, as (signal, group, version)."""
    heard: list[tuple[Any, ...]] = []

    def new(sender: Any, group_id: Any, **_: Any) -> None:
        heard.append(("new", group_id))

    def regressed(sender: Any, group_id: Any, version_number: int, **_: Any) -> None:
        heard.append(("regressed", group_id, version_number))

    group_new.connect(new)
    group_regressed.connect(regressed)
    yield heard
    group_new.disconnect(new)
    group_regressed.disconnect(regressed)


def counted(one: FailureGroup) -> tuple[int, int]:
    one.refresh_from_db()
    return one.total, one.open


def test_alike_failures_are_one_group_and_others_are_not(orders: Workflow) -> None:
    first = fail(orders, "order 17 is late")
    alike = fail(orders, "order 18 is late")
    other = fail(orders, "no such customer")
    elsewhere = fail(orders, "order 19 is late", step="reserve.main")

    assert first.group_id == alike.group_id
    assert len({first.group_id, other.group_id, elsewhere.group_id}) == 3
    assert group(first).message == "order <n> is late"


def test_a_module_that_names_its_failures_decides_what_is_one(orders: Workflow) -> None:
    first = fail(orders, "Card 4242 was declined", fingerprint="declined")
    same = fail(orders, "Not enough money", fingerprint="declined")
    other = fail(orders, "Card 4242 was declined", fingerprint="lost")

    assert first.group_id == same.group_id != other.group_id


def test_an_entry_says_what_was_talked_to_and_how_that_answered(orders: Workflow) -> None:
    letter = fail(orders, "no", target="partner.test", details={"status": 503})

    assert (letter.target, letter.http_status) == ("partner.test", 503)


def test_what_failed_is_counted_by_group_hour_and_version(orders: Workflow) -> None:
    letters = [fail(orders, number=number) for number in (1, 1, 2)]
    one = group(letters[0])
    assert counted(one) == (0, 0)

    assert tally.fold() == 3
    assert tally.fold() == 0

    assert counted(one) == (3, 3)
    assert sum(GroupHour.objects.filter(group=one).values_list("count", flat=True)) == 3
    versions = GroupVersion.objects.filter(group=one).order_by("number")
    assert list(versions.values_list("number", "count")) == [(1, 2), (2, 1)]
    assert one.first_seen <= letters[0].quarantined_at <= one.last_seen
    assert not GroupNews.objects.exists()


def test_what_is_resolved_is_open_no_more(orders: Workflow) -> None:
    letter, _ = fail(orders), fail(orders)
    discard(letter.pk, actor=ANN, notes="known")
    tally.fold()
    assert counted(group(letter)) == (2, 1)

    transitions.restore(transitions.find(letter.pk), actor=ANN)
    tally.fold()
    assert counted(group(letter)) == (2, 2)


def test_a_group_is_told_of_once_it_is_new(orders: Workflow, told: list[Any]) -> None:
    letter = fail(orders)
    tally.fold()
    fail(orders)
    tally.fold()

    assert told == [("new", letter.group_id)]


def test_a_fold_is_bounded_and_its_statements_do_not_grow_with_the_groups(
    orders: Workflow,
) -> None:
    for letters in (1, 2, 3, 4):
        fail(orders, "x" * letters)
    tally.fold()  # each new group is reported separately
    for letters in (1, 2, 3, 4):
        fail(orders, "x" * letters)
    with CaptureQueriesContext(connection) as of_one:
        assert tally.fold(seconds=0, batch=1) == 1

    with CaptureQueriesContext(connection) as of_three:
        assert tally.fold(seconds=0, batch=4) == 3

    assert len(of_three) == len(of_one) <= 8


def test_resolved_now_it_regresses_whatever_the_version(orders: Workflow, told: list[Any]) -> None:
    letter = fail(orders, number=2)
    tally.fold()
    told.clear()
    status.resolve(letter.group_id, actor=ANN)

    fail(orders, number=1)
    tally.fold()

    assert group(letter).status == S.REGRESSED
    assert told == [("regressed", letter.group_id, 1)]
    assert Activity.objects.filter(action="group.regress", object_id=letter.group_id).exists()


def test_what_failed_before_it_was_resolved_is_no_regression(orders: Workflow) -> None:
    letter = fail(orders)
    status.resolve(letter.group_id, actor=ANN)
    tally.fold()

    assert group(letter).status == S.RESOLVED
    assert counted(group(letter)) == (1, 1)


def test_resolved_in_a_version_it_regresses_from_that_one_on(
    orders: Workflow, told: list[Any]
) -> None:
    letter = fail(orders, number=1)
    tally.fold()
    told.clear()
    status.resolve(letter.group_id, actor=ANN, in_version=3)

    fail(orders, number=2)
    tally.fold()
    assert group(letter).status == S.RESOLVED
    fail(orders, number=3)
    tally.fold()

    assert group(letter).status == S.REGRESSED
    assert told == [("regressed", letter.group_id, 3)]


@pytest.mark.parametrize(
    ("terms", "number"), [({"total": 3}, 1), ({"version": 1}, 2)], ids=["count", "version"]
)
def test_a_snoozed_group_wakes_when_enough_or_something_newer_failed(
    orders: Workflow, terms: dict[str, int], number: int
) -> None:
    letter = fail(orders)
    tally.fold()
    status.acknowledge(letter.group_id, actor=ANN)
    status.snooze(letter.group_id, actor=ANN, **terms)
    fail(orders)
    tally.fold()
    assert group(letter).status == S.SNOOZED

    fail(orders, number=number)
    tally.fold()

    assert group(letter).status == S.ACKNOWLEDGED
    assert group(letter).snoozed_total is None


def test_a_snoozed_group_wakes_in_time(orders: Workflow) -> None:
    letter = fail(orders)
    status.snooze(letter.group_id, actor=ANN, until=timezone.now() + timedelta(days=1))
    assert tally.wake() == 0

    FailureGroup.objects.update(snoozed_until=timezone.now() - timedelta(seconds=1))

    assert tally.wake() == 1
    assert group(letter).status == S.NEW


@pytest.mark.parametrize(
    "terms",
    [{}, {"until": timezone.now() - timedelta(hours=1)}, {"total": 0}],
    ids=["none", "past", "reached"],
)
def test_a_group_is_snoozed_until_something_to_come(
    orders: Workflow, terms: dict[str, Any]
) -> None:
    with pytest.raises(BadTerms):
        status.snooze(fail(orders).group_id, actor=ANN, **terms)


def test_people_move_a_group_and_the_trail_says_so(orders: Workflow) -> None:
    pk = fail(orders).group_id

    status.acknowledge(pk, actor=ANN, reason="looking")
    status.resolve(pk, actor=ANN, in_version=4)
    status.resolve(pk, actor=ANN, in_version=5)
    status.reopen(pk, actor=ANN)
    status.ignore(pk, actor=ANN)
    status.mute(pk, True, actor=ANN)
    operations.add(pk, "It is their certificate.", actor=ANN)

    trail = Activity.objects.filter(object_type="FailureGroup", object_id=str(pk)).order_by("pk")
    assert list(trail.values_list("action", flat=True)) == [
        "group.acknowledge", "group.resolve", "group.resolve", "group.reopen", "group.ignore",
        "group.mute", "group.note",
    ]  # fmt: skip
    assert trail[0].reason == "looking"
    assert trail[2].after == {"status": "RESOLVED", "resolved_in": 5}
    assert FailureGroup.objects.get(pk=pk).muted


def test_a_move_that_is_none_changes_nothing(orders: Workflow) -> None:
    pk = fail(orders).group_id
    status.acknowledge(pk, actor=ANN)

    with pytest.raises(WrongState):
        status.acknowledge(pk, actor=ANN)
    with pytest.raises(NotFound):
        status.acknowledge(admin_rows.workspace().pk, actor=ANN)

    assert Activity.objects.filter(action="group.acknowledge").count() == 1


def test_an_owner_is_somebody_who_may_see_the_group(orders: Workflow) -> None:
    pk = fail(orders).group_id
    member, stranger, gone = (User.objects.create_user(name) for name in ("ada", "eve", "bob"))
    for user in (member, gone):
        Membership.objects.create(user=user, workspace_id=orders.workspace_id, role="WORKFLOW")
    User.objects.filter(pk=gone.pk).update(is_active=False)

    assert status.assign(pk, member.pk, actor=ANN).owner == member
    for user in (stranger, gone):
        with pytest.raises(CannotOwn):
            status.assign(pk, user.pk, actor=ANN)
    assert status.assign(pk, None, actor=ANN).owner is None


def test_a_clean_redrive_resolves_a_group_of_which_nothing_is_open(orders: Workflow) -> None:
    letter = fail(orders)
    status.begin_redrive([letter.group_id])
    assert group(letter).status == S.REDRIVING
    with pytest.raises(WrongState):
        status.ignore(letter.group_id, actor=ANN)

    status.end_redrive([letter.group_id], clean=True)
    assert group(letter).status == S.NEW  # the letter is still open

    status.begin_redrive([letter.group_id])
    transitions.resolve(letter, Resolution.REQUEUED, actor=ANN)
    status.end_redrive([letter.group_id], clean=True)
    assert group(letter).status == S.RESOLVED


def test_the_last_of_several_redrives_decides(orders: Workflow) -> None:
    letter = fail(orders)
    status.acknowledge(letter.group_id, actor=ANN)
    transitions.resolve(letter, Resolution.REQUEUED, actor=ANN)
    status.begin_redrive([letter.group_id])
    status.begin_redrive([letter.group_id])

    status.end_redrive([letter.group_id], clean=True)
    assert group(letter).status == S.REDRIVING
    status.end_redrive([letter.group_id], clean=False)
    assert group(letter).status == S.ACKNOWLEDGED


def test_a_resolved_group_that_fails_in_its_redrive_has_regressed_after_it(
    orders: Workflow, told: list[Any]
) -> None:
    letter = fail(orders)
    tally.fold()
    told.clear()
    status.resolve(letter.group_id, actor=ANN)
    status.begin_redrive([letter.group_id])
    fail(orders)
    tally.fold()
    assert group(letter).status == S.REDRIVING
    assert told == [("regressed", letter.group_id, 1)]

    status.end_redrive([letter.group_id], clean=False)

    assert group(letter).status == S.REGRESSED


@pytest.mark.parametrize("ended", [False, True], ids=["in the redrive", "after the redrive"])
def test_a_failure_that_is_counted_late_is_a_regression_despite_a_redrive(
    orders: Workflow, told: list[Any], ended: bool
) -> None:
    letter = fail(orders)
    tally.fold()
    told.clear()
    status.resolve(letter.group_id, actor=ANN)
    fail(orders)
    status.begin_redrive([letter.group_id])
    if ended:
        status.end_redrive([letter.group_id], clean=False)

    tally.fold()

    assert told == [("regressed", letter.group_id, 1)]
    if not ended:
        status.end_redrive([letter.group_id], clean=False)
    assert group(letter).status == S.REGRESSED


def test_the_newest_entries_are_broken_down_by_what_they_differ_in(orders: Workflow) -> None:
    for number in range(5):
        letter = fail(
            orders,
            details={"status": 503 if number else 500},
            runner=f"box-{number % 2}",
            step=f"each[{number}].pay.main",
            target="partner.test",
        )
    discard(letter.pk, actor=ANN)

    with CaptureQueriesContext(connection) as made:
        found = breakdown(letter.group_id)
    few = breakdown(letter.group_id, most=2)

    workspace = Workspace.objects.get(pk=orders.workspace_id)
    assert len(made) <= 2
    assert (found.looked_at, found.more) == (5, False)
    shares = {
        facet.name: [(share.value, share.count) for share in facet.shares] for facet in found.facets
    }
    assert shares == {
        "version_number": [("1", 5)],
        "worker": [("box-0", 3), ("box-1", 2)],
        "http_status": [("503", 4), ("500", 1)],
        "target": [("partner.test", 5)],
        "exception": [("StepError", 5)],
        "step_path": [("each[].pay.main", 5)],
        "workspace": [(workspace.name, 5)],
    }
    assert (few.looked_at, few.more) == (2, True)


@pytest.mark.parametrize(("size", "indexed"), [(10, True), (20_000, False)])
def test_large_inputs_are_not_looked_for_by_path(
    orders: Workflow, size: int, indexed: bool
) -> None:
    assert fail(orders, inputs={"text": "x" * size}).inputs_indexed is indexed


def test_a_listener_that_fails_stops_neither_counting_nor_other_groups(
    orders: Workflow, told: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    first, second = fail(orders, "one"), fail(orders, "two")

    def fails(sender: Any, group_id: Any, **_: Any) -> None:
        if group_id == first.group_id:
            FailureGroup.objects.filter(pk=group_id).update(message="half done")
            raise RuntimeError("no mail today")

    group_new.connect(fails)
    try:
        tally.fold()
    finally:
        group_new.disconnect(fails)

    assert not GroupNews.objects.exists()
    totals = FailureGroup.objects.values_list("pk", "total")
    assert dict(totals) == {first.group_id: 1, second.group_id: 1}
    assert FailureGroup.objects.get(pk=first.group_id).message != "half done"
    assert ("new", second.group_id) in told
    assert "some notifications failed" in caplog.text
