"""The differences between a start, fork or repair and the published or recorded data."""

import pytest

from executions.access import AccessChange, Action, Base, operators_powers
from executions.access.changes import needs
from executions.states import Permission

OVERRIDES = [Permission.REDRIVE_CHANGED, Action.OPERATE]


@pytest.mark.parametrize(
    ("change", "powers"),
    [
        (AccessChange(), []),
        (AccessChange(payload=True), []),
        (AccessChange(Base.PINNED), []),
        (AccessChange(Base.PINNED, payload=True), [Action.OPERATE]),
        (AccessChange(Base.OTHER), [Action.OPERATE]),
        (AccessChange(Base.TEST), [Action.AUTHOR]),
        (AccessChange(inside=True), [Action.OPERATE]),
        (AccessChange(variables=True), OVERRIDES),
        (AccessChange(steps=True), OVERRIDES),
        (AccessChange(approved=True), [Action.AUTHOR]),
        (AccessChange(Base.OTHER, inside=True, steps=True), [Action.OPERATE, OVERRIDES[0]]),
    ],
)
def test_what_an_operator_needs_for_a_change(change: AccessChange, powers: list[str]) -> None:
    assert operators_powers(change) == powers


def test_an_author_overrides_without_the_permission_for_changed_redrives() -> None:
    for change in (AccessChange(variables=True), AccessChange(steps=True)):
        assert [need.either[0] for need in needs(change)] == [(Action.AUTHOR,)]
