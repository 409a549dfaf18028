"""Failure groups that are merged, unmerged and split: the group of each failure, and correct
counts.
"""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

import pytest
from django.db.models import Sum

from dlq.groups import merging, operations, status, tally
from dlq.groups.errors import CannotJoin, CannotSplit
from dlq.models import (
    DeadLetterEntry,
    FailureGroup,
    GroupFingerprint,
    GroupHour,
    GroupMove,
    GroupNote,
    GroupVersion,
    Resolution,
)
from dlq.resolve.discard import discard
from executions.access.actor import Actor
from executions.errors import WrongState
from executions.models import Activity, Workflow
from tests.support import admin_rows
from tests.support.failures import fail, group

pytestmark = pytest.mark.django_db
ANN = Actor(None, "ann", "test")


@pytest.fixture
def orders() -> Workflow:
    return admin_rows.workflow()


def settle() -> None:
    """Complete every move, as if a minute had passed, and count the remaining rows."""
    GroupMove.objects.update(created_at=merging.database_now() - 2 * merging.SETTLED_AFTER)
    while GroupMove.objects.exists():
        merging.move_on()
    while tally.fold():
        pass


def assert_counted(groups: Iterable[UUID]) -> None:
    """Check that every counter of these groups matches their entries."""
    for pk in groups:
        one, entries = FailureGroup.objects.get(pk=pk), DeadLetterEntry.objects.filter(group_id=pk)
        open_ones = entries.filter(resolution=Resolution.PENDING)
        assert (one.total, one.open) == (entries.count(), open_ones.count()), one
        for model in (GroupHour, GroupVersion):
            rows = model.objects.filter(group_id=pk)
            assert (rows.aggregate(n=Sum("count"))["n"] or 0) == one.total
        times = entries.order_by("quarantined_at").values_list("quarantined_at", flat=True)
        assert one.first_seen <= times[0]
        assert one.last_seen >= times.last()


def test_a_merge_takes_failures_counts_and_notes_along(orders: Workflow) -> None:
    here, there = fail(orders, "no stock"), fail(orders, "nothing left", number=2)
    tally.fold()
    uncounted = fail(orders, "nothing left")
    discard(there.pk, actor=ANN, notes="x")
    source_id = there.group_id
    operations.add(source_id, "Ask the warehouse.", actor=ANN)

    merged = merging.merge(here.group_id, [source_id], actor=ANN, reason="the same")
    later = fail(orders, "nothing left")
    settle()

    assert {group(one).pk for one in (here, there, uncounted, later)} == {merged.pk}
    assert_counted([merged.pk])
    assert FailureGroup.objects.get(pk=source_id).merged_into_id == merged.pk
    assert GroupNote.objects.get().group_id == merged.pk
    assert Activity.objects.get(action="group.merge").reason == "the same"


def test_what_was_merged_before_follows(orders: Workflow) -> None:
    first, second, third = (fail(orders, text) for text in ("one", "two", "three"))
    ids = [one.group_id for one in (first, second, third)]
    merging.merge(ids[1], [ids[0]], actor=ANN)
    merging.merge(ids[2], [ids[1]], actor=ANN)
    late = fail(orders, "one")
    settle()

    assert late.group_id == ids[2]
    assert set(
        FailureGroup.objects.filter(pk__in=ids[:2]).values_list("merged_into", flat=True)
    ) == {ids[2]}
    assert_counted([ids[2]])


def test_who_looked_the_group_up_before_a_merge_arrives_all_the_same(orders: Workflow) -> None:
    here, there = fail(orders, "no stock"), fail(orders, "nothing left")
    source = there.group_id
    merging.merge(here.group_id, [source], actor=ANN)
    late = fail(orders, "nothing left")
    # As if its transaction had begun before the merge.
    DeadLetterEntry.objects.filter(pk=late.pk).update(group_id=source)

    settle()

    assert group(late).pk == here.group_id
    assert_counted([here.group_id])


@pytest.mark.parametrize("kind", ["itself", "nothing", "another workspace", "redriving"])
def test_groups_that_do_not_belong_together_are_not_merged(orders: Workflow, kind: str) -> None:
    here, there = fail(orders, "no stock").group_id, fail(orders, "nothing left").group_id
    if kind == "another workspace":
        other = admin_rows.workflow("other", owner=admin_rows.workspace("other"))
        there = fail(other).group_id
    if kind == "redriving":
        status.begin_redrive([there])
    sources = {"itself": [here], "nothing": []}.get(kind, [there])

    with pytest.raises(WrongState if kind == "redriving" else CannotJoin):
        merging.merge(here, sources, actor=ANN)

    assert not FailureGroup.objects.exclude(merged_into=None).exists()


def test_a_fingerprint_gets_a_group_of_its_own_again(orders: Workflow) -> None:
    here, there = fail(orders, "no stock"), fail(orders, "nothing left", number=2)
    merging.merge(here.group_id, [there.group_id], actor=ANN)
    more = [fail(orders, "nothing left") for _ in range(3)]
    settle()
    status.acknowledge(here.group_id, actor=ANN)

    made = merging.unmerge(here.group_id, there.fingerprint, actor=ANN)
    later = fail(orders, "nothing left")
    settle()

    assert {group(one).pk for one in (there, *more, later)} == {made.pk}
    assert (made.message, made.status) == ("nothing left", "ACKNOWLEDGED")
    assert_counted([here.group_id, made.pk])
    with pytest.raises(CannotSplit):
        merging.unmerge(made.pk, there.fingerprint, actor=ANN)
    with pytest.raises(CannotSplit):
        merging.unmerge(made.pk, "f" * 64, actor=ANN)


def test_an_unmerge_before_the_merge_is_done_loses_nothing(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "AT_ONCE", 0)
    here, there = fail(orders, "no stock"), [fail(orders, "nothing left") for _ in range(4)]
    merging.merge(here.group_id, [there[0].group_id], actor=ANN)
    tally.fold()
    made = merging.unmerge(here.group_id, there[0].fingerprint, actor=ANN)

    settle()

    assert {group(one).pk for one in there} == {made.pk}
    assert_counted([here.group_id, made.pk])


def test_a_split_tells_failures_apart_from_then_on(orders: Workflow) -> None:
    old = [fail(orders, details={"status": status}) for status in (503, 503, 500, 404)]
    tally.fold()
    pk = old[0].group_id

    parts = {part.value: part.group_id for part in merging.split(pk, "http_status", actor=ANN)}
    new = [fail(orders, details={"status": status}) for status in (503, 500, 418)]
    settle()

    assert parts["503"] == pk
    assert [group(one).pk for one in old] == [pk, pk, parts["500"], parts["404"]]
    assert [one.group_id for one in new[:2]] == [pk, parts["500"]]
    teapot = group(new[2])
    assert teapot.pk not in parts.values()
    assert teapot.split_on == "HTTP status 418"
    assert FailureGroup.objects.get(pk=pk).split_on == "HTTP status 503"
    assert_counted([*parts.values(), teapot.pk])


def test_a_part_is_split_further(orders: Workflow) -> None:
    for runner in ("a", "a", "b"):
        fail(orders, details={"status": 500}, runner=runner)
    first = fail(orders, details={"status": 503})
    merging.split(first.group_id, "http_status", actor=ANN)
    merging.split(first.group_id, "worker", actor=ANN)
    late = fail(orders, details={"status": 500}, runner="b")
    settle()

    groups = FailureGroup.objects.filter(merged_into=None)
    assert {one.split_on for one in groups} == {
        "HTTP status 500, worker a", "HTTP status 500, worker b", "HTTP status 503",
    }  # fmt: skip
    assert group(late).split_on == "HTTP status 500, worker b"
    assert_counted(groups.values_list("pk", flat=True))


def test_parts_are_bounded_and_what_comes_after_shares_one(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlq.groups.find_group.MOST_PARTS", 3)
    first = [fail(orders, runner=runner) for runner in ("a", "a", "b")]
    merging.split(first[0].group_id, "worker", actor=ANN)

    more = [fail(orders, runner=runner) for runner in ("c", "d", "e", "d", "b")]
    settle()

    assert [one.group_id == first[0].group_id for one in more] == [False, True, True, True, False]
    assert_counted({one.group_id for one in more})


def test_a_group_with_one_value_is_not_split(orders: Workflow) -> None:
    pk = fail(orders).group_id
    fail(orders)

    for by in ("http_status", "resolution"):
        with pytest.raises(CannotSplit):
            merging.split(pk, by, actor=ANN)
    assert not GroupFingerprint.objects.exclude(split_by="").exists()


def test_a_large_group_moves_in_batches_while_failures_come(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "AT_ONCE", 1)
    letters = [fail(orders, details={"status": 500 + n % 3}) for n in range(12)]
    monkeypatch.setattr(merging, "BATCH", 2)
    pk = letters[0].group_id
    tally.fold()

    merging.split(pk, "http_status", actor=ANN)
    fail(orders, details={"status": 502})
    tally.turn()
    settle()

    groups = set(DeadLetterEntry.objects.values_list("group_id", flat=True))
    assert len(groups) == 3
    assert_counted(groups)


def test_a_move_stays_until_no_transaction_of_its_time_can_be_alive(orders: Workflow) -> None:
    here, there = fail(orders, "no stock"), fail(orders, "nothing left")
    merging.merge(here.group_id, [there.group_id], actor=ANN)

    merging.move_on()
    assert GroupMove.objects.get().moved == 1
    GroupMove.objects.update(created_at=merging.database_now() - timedelta(minutes=2))
    merging.move_on()

    assert not GroupMove.objects.exists()
