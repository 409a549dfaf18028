"""Permissions to start or repeat an execution with changed content.

Every entry point (API, admin, studio, redrives) calls this module. TRIGGER alone allows starting
the latest version with a different input. Skipping steps, or giving a step values outside its
definition, needs more permissions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from executions.access.powers import Action, Forbidden, Power, Powers
from executions.states import Permission


class Base(Enum):
    """The version that a new execution runs.

    LATEST also applies if the origin ran the latest version.
    """

    LATEST = "latest"
    PINNED = "pinned"  # the origin's version, if it is not the latest
    OTHER = "other"
    TEST = "test"  # the version made for a test run


@dataclass(frozen=True, slots=True)
class AccessChange:
    """The differences between a new execution and its origin; the defaults describe a plain start.

    `inside` says that the execution begins at a step or a checkpoint. `payload` says that its input
    differs from the origin's input. `approved` says that the change concerns a step's inputs or
    outputs in an approved execution.
    """

    base: Base = Base.LATEST
    inside: bool = False
    payload: bool = False
    variables: bool = False
    steps: bool = False
    approved: bool = False


@dataclass(frozen=True, slots=True)
class Need:
    """A part of a change, as text, and sets of powers; users need all powers of any one set."""

    what: str
    either: tuple[tuple[Power, ...], ...]


OPERATE = ((Action.OPERATE,),)
AUTHOR = ((Action.AUTHOR,),)
OVERRIDE = ((Action.AUTHOR,), (Permission.REDRIVE_CHANGED, Action.OPERATE))


def needs(change: AccessChange) -> Iterator[Need]:
    """Yield the powers that a change needs in addition to the power to start or redrive."""
    if change.base is Base.TEST:
        yield Need("run the version of a test run again", AUTHOR)
    if change.base is Base.OTHER:
        yield Need("run a version other than the latest", OPERATE)
    if change.base is Base.PINNED and change.payload:
        yield Need("give a different input to an older version", OPERATE)
    if change.inside:
        yield Need("start from a step or a checkpoint", OPERATE)
    if change.variables:
        yield Need("override variables", OVERRIDE)
    if change.steps:
        yield Need("override the inputs of steps", OVERRIDE)
    if change.approved:
        yield Need("change steps after an approval that was given", AUTHOR)


def operators_powers(change: AccessChange) -> list[Power]:
    """Return the powers that a change needs; for overrides, what users without AUTHOR need."""
    return list(dict.fromkeys(power for need in needs(change) for power in need.either[-1]))


def may_override(may: Powers) -> bool:
    """Return whether the caller may override variables and the inputs of steps."""
    return _has(may, OVERRIDE)


def check_change(may: Powers, change: AccessChange) -> None:
    """Raise Forbidden if the caller may not make the change; the error names the first reason."""
    for need in needs(change):
        if not _has(may, need.either):
            raise Forbidden(_refusal(may, need))


def _has(may: Powers, either: tuple[tuple[Power, ...], ...]) -> bool:
    return any(all(may.allows(power) for power in powers) for powers in either)


def _refusal(may: Powers, need: Need) -> str:
    wanted = ", or ".join(" and ".join(power.value for power in powers) for powers in need.either)
    token = " and this API token's scopes" if may.limited else ""
    return (
        f"To {need.what}, you need {wanted}. Your role here ({may.role or 'none'}){token} "
        "does not include that. Ask an administrator of the workspace."
    )
