"""Rows that tests share do not change from one test to the next, and no test may commit."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction

from tests.support.kept_world import refuse_commits, rolled_back

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def world(kept_world: None) -> int:
    return Group.objects.create(name="kept").pk


@pytest.mark.parametrize("turn", range(2))
def test_each_test_finds_the_world_as_it_was_built(world: int, turn: int) -> None:
    assert dict(Group.objects.values_list("pk", "name")) == {world: "kept"}
    with transaction.atomic(durable=True):
        Group.objects.create(name="of this test")
        Group.objects.filter(pk=world).update(name="changed")


def test_only_a_tests_own_messages_are_sent(django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks() as sent:
        transaction.on_commit(print)
    assert sent == [print]


def test_a_world_is_not_built_in_a_test() -> None:
    assert connection.in_atomic_block
    with pytest.raises(RuntimeError, match="wider scope"), rolled_back():
        pass


@pytest.mark.parametrize("how", ["mark", "fixture"])
def test_a_test_that_commits_is_refused(request: pytest.FixtureRequest, how: str) -> None:
    class Committing:
        nodeid = "test_of_another_kind"
        fixturenames = ["live_server"] if how == "fixture" else []

        def get_closest_marker(self, _: str) -> pytest.Mark | None:
            return pytest.mark.django_db(transaction=True).mark if how == "mark" else None

    other: Any = Committing()
    with pytest.raises(pytest.fail.Exception, match="test_of_another_kind"):
        refuse_commits([request.node, other])
