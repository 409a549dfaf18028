"""Counters of failure groups with many writers and counting processes, some of which end early."""

import threading
from random import Random
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import Sum

from dlq.groups import merging, status, tally
from dlq.groups.find_group import note_news
from dlq.groups.locking import locked
from dlq.models import (
    DeadLetterEntry,
    FailureGroup,
    GroupHour,
    GroupMove,
    GroupNews,
    GroupVersion,
)
from dlq.resolve.discard import discard
from executions.access.actor import Actor
from tests.support import admin_rows
from tests.support.failures import fail
from tests.support.rivals import Rivals, my_session, wait_until_blocked

ANN = Actor(None, "ann", "test")
pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture
def letters(engine: None, request: pytest.FixtureRequest) -> list[DeadLetterEntry]:
    """Create two dead letters of two groups, and count them."""
    orders = admin_rows.workflow(f"orders-{request.node.name}"[:60])
    made = [fail(orders, message) for message in ("no stock", "nothing left")]
    count_all()
    return made


def count_all() -> None:
    while GroupNews.objects.exists():
        tally.fold()


def of(letter: DeadLetterEntry) -> FailureGroup:
    return FailureGroup.objects.get(pk=letter.group_id)


def test_counts_are_exact_under_writers_and_folders_that_die(
    letters: list[DeadLetterEntry], rivals: Rivals
) -> None:
    groups, before = [letter.group_id for letter in letters], [of(letter) for letter in letters]
    writing = threading.Event()

    def write(seed: int) -> list[int]:
        random, sums = Random(seed), [0, 0]
        for _ in range(60):
            number, seen = random.randrange(2), random.randrange(1, 4)
            sums[number] += seen
            note_news(groups[number], version_number=seed % 3 + 1, seen=seen, opened=seen)
        return sums

    def fold(seed: int) -> int:
        random, deaths = Random(seed), 0
        while not writing.is_set() or GroupNews.objects.exists():
            deaths += _fold_and_perhaps_die(random)
        return deaths

    folders = [rivals.begin(fold, seed) for seed in range(2)]
    writers = [rivals.begin(write, seed) for seed in range(4)]
    try:
        written = [writer.result(60) for writer in writers]
    finally:
        writing.set()
    deaths = sum(folder.result(60) for folder in folders)

    assert deaths > 0
    for number, letter in enumerate(letters):
        added, now = sum(sums[number] for sums in written), of(letter)
        assert now.total == before[number].total + added
        assert now.open == before[number].open + added
        for model in (GroupHour, GroupVersion):
            rows: Any = model.objects
            assert rows.filter(group=now).aggregate(n=Sum("count"))["n"] == now.total


def _fold_and_perhaps_die(random: Random) -> int:
    """Fold a small batch; one time in three, end the session right before the commit."""
    if random.random() < 0.7:
        tally.fold(seconds=0, batch=7)
        return 0
    try:
        with transaction.atomic():
            tally.fold(seconds=0, batch=7)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    except OperationalError:
        connection.close()
        return 1
    raise AssertionError("the session should have ended")


def test_a_failing_step_does_not_wait_for_who_decides_about_its_group(
    letters: list[DeadLetterEntry], rivals: Rivals
) -> None:
    orders = letters[0].workflow
    with transaction.atomic():
        locked(letters[0].group_id)
        status.move(locked(letters[1].group_id), "ACKNOWLEDGED")  # type: ignore[arg-type]

        late = [rivals.begin(fail, orders, text) for text in ("no stock", "nothing left")]

        assert [one.result(60).group_id for one in late] == [one.group_id for one in letters]


def test_of_two_who_resolve_a_group_at_once_each_is_written_down(
    letters: list[DeadLetterEntry], rivals: Rivals
) -> None:
    pk = letters[0].group_id
    with transaction.atomic():
        status.resolve(pk, actor=ANN, in_version=2)
        other = rivals.begin(status.resolve, pk, actor=ANN, in_version=3)
        wait_until_blocked(my_session())

    assert other.result(60).resolved_in == 3
    assert of(letters[0]).resolved_in == 3


def test_groups_that_are_merged_while_their_entries_are_resolved_count_right(
    letters: list[DeadLetterEntry], rivals: Rivals
) -> None:
    target, source = letters[0].group_id, letters[1].group_id
    orders = letters[0].workflow
    more = [fail(orders, "nothing left") for _ in range(6)]

    acts = [rivals.begin(discard, letter.pk, actor=ANN, notes="x") for letter in more[:3]]
    acts.append(rivals.begin(merging.merge, target, [source], actor=ANN))
    acts += [rivals.begin(discard, letter.pk, actor=ANN, notes="x") for letter in more[3:]]
    acts += [rivals.begin(fail, orders, "nothing left") for _ in range(3)]
    for act in acts:
        act.result(60)
    GroupMove.objects.update(created_at=merging.database_now() - 2 * merging.SETTLED_AFTER)
    while GroupMove.objects.exists():
        merging.move_on()
    count_all()

    merged = of(letters[0])
    entries = DeadLetterEntry.objects.filter(group_id=target)
    assert entries.count() == merged.total == 11
    assert entries.filter(resolution="PENDING").count() == merged.open == 5
    assert not DeadLetterEntry.objects.filter(group_id=source).exists()


def test_two_failures_of_a_new_kind_at_once_make_one_group(
    letters: list[DeadLetterEntry], rivals: Rivals
) -> None:
    orders = letters[0].workflow
    with transaction.atomic():
        first = fail(orders, "never seen before")
        other = rivals.begin(fail, orders, "never seen before")
        wait_until_blocked(my_session())

    assert other.result(60).group_id == first.group_id
    assert FailureGroup.objects.filter(message="never seen before", workflow=orders).count() == 1
