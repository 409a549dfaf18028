"""Redrives that begin while their failure groups are merged: no deadlock, in either order."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from dlq.groups import merging
from dlq.groups.locking import locked
from dlq.models import DeadLetterEntry, FailureGroup
from executions.errors import WrongState
from tests.plugins.redrive.redriving import dead, made
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.single_thread import World
from tests.support.workflows import ACTOR
from valkyr_plugins.redrive import lifecycle
from valkyr_plugins.redrive.models import Redrive

Verb = Callable[..., Redrive]


def started(redrive: Redrive) -> Verb:
    return lifecycle.start


def resumed(redrive: Redrive) -> Verb:
    """Start and stop the redrive, so that it can be resumed."""
    running = lifecycle.start(redrive.pk, actor=ACTOR)
    with transaction.atomic():
        lifecycle.stop(running, "Too many failed.")
    return lifecycle.resume


def grouped(queue: World) -> tuple[UUID, UUID]:
    """Create a dead letter in a group of its own; return the IDs of both."""
    (letter,) = dead(queue, 1)
    return letter, DeadLetterEntry.objects.get(pk=letter).group_id


def noted(sessions: list[int], act: Callable[..., Any], *args: Any) -> Any:
    sessions.append(my_session())
    return act(*args, actor=ACTOR)


@pytest.mark.parametrize("prepared", [started, resumed])
def test_a_merge_waits_for_a_redrive_that_begins_and_is_refused(
    queue: World, rivals: Rivals, prepared: Callable[[Redrive], Verb]
) -> None:
    (one, first), (two, source), (_, target) = (grouped(queue) for _ in range(3))
    redrive = made([one, two], group_id=source)
    act, sessions = prepared(redrive), list[int]()
    with transaction.atomic():
        locked(first)  # the redrive locks it before the source
        beginning = rivals.begin(noted, sessions, act, redrive.pk)
        wait_until_blocked(my_session())
        joining = rivals.begin(merging.merge, target, [source], actor=ACTOR)
        wait_until_blocked(sessions[0])

    assert beginning.result(60).state == "RUNNING"
    with pytest.raises(WrongState, match="is being redriven"):
        joining.result(60)
    redrive.refresh_from_db()
    assert redrive.group_id == source
    lifecycle.abort(redrive.pk, actor=ACTOR)


@pytest.mark.parametrize("of_group", [True, False], ids=["of the group", "of chosen letters"])
@pytest.mark.parametrize("prepared", [started, resumed])
def test_a_redrive_that_begins_waits_for_a_merge_and_follows_it(
    queue: World, rivals: Rivals, prepared: Callable[[Redrive], Verb], of_group: bool
) -> None:
    (letter, source), (_, target) = (grouped(queue) for _ in range(2))
    redrive = made([letter], group_id=source if of_group else None)
    act, sessions = prepared(redrive), list[int]()
    with transaction.atomic():
        locked(target)  # the merge locks it after the source
        joining = rivals.begin(noted, sessions, merging.merge, target, [source])
        wait_until_blocked(my_session())
        beginning = rivals.begin(act, redrive.pk, actor=ACTOR)
        wait_until_blocked(sessions[0])

    assert joining.result(60).pk == target
    assert beginning.result(60).group_id == (target if of_group else None)
    groups = FailureGroup.objects.filter(pk__in=[source, target])
    assert dict(groups.values_list("pk", "redriving")) == {source: 0, target: 1}
    lifecycle.abort(redrive.pk, actor=ACTOR)
