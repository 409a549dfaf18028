"""What a start, a fork or a repair needs that differs from what was published or recorded."""

import pytest

from executions.access import Action, Base, Change, operators_powers
from executions.access.changes import needs
from executions.states import Permission

OVERRIDES = [Permission.REDRIVE_CHANGED, Action.OPERATE]


@pytest.mark.parametrize(
    ("change", "powers"),
    [
        (Change(), []),
        (Change(payload=True), []),
        (Change(Base.PINNED), []),
        (Change(Base.PINNED, payload=True), [Action.OPERATE]),
        (Change(Base.OTHER), [Action.OPERATE]),
        (Change(Base.TEST), [Action.AUTHOR]),
        (Change(inside=True), [Action.OPERATE]),
        (Change(variables=True), OVERRIDES),
        (Change(steps=True), OVERRIDES),
        (Change(approved=True), [Action.AUTHOR]),
        (Change(Base.OTHER, inside=True, steps=True), [Action.OPERATE, OVERRIDES[0]]),
    ],
)
def test_what_an_operator_needs_for_a_change(change: Change, powers: list[str]) -> None:
    assert operators_powers(change) == powers


def test_an_author_overrides_without_the_permission_for_changed_redrives() -> None:
    for change in (Change(variables=True), Change(steps=True)):
        assert [need.either[0] for need in needs(change)] == [(Action.AUTHOR,)]
