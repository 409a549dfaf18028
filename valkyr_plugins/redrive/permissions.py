"""What a redrive needs of who makes, starts or resumes it: the same as its entries one by one."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from dlq.public.models import DeadLetterEntry
from executions.public.access import (
    AccessChange,
    Action,
    Base,
    Power,
    User,
    check_change,
    operators_powers,
    powers_on,
    refused,
    visible,
)
from executions.public.models import Permission
from runners.public.repair import given_in
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.states import RedriveScope
from valkyr_plugins.redrive.wish import LATEST, PINNED, Wish

BASES = {LATEST: Base.LATEST, PINNED: Base.PINNED}


def needed(wish: Wish | Redrive, *, by_inputs: bool = False) -> list[Power]:
    """The powers that one must have over every entry.

    A new execution is a fork, and needs what a fork needs. Who chooses entries by the values of
    their inputs (`by_inputs`), or computes with them, must be allowed to see them.
    """
    changed = bool(wish.overrides) or bool(wish.expression)
    powers: list[Power] = [Permission.REDRIVE]
    if changed:
        powers.append(Permission.REDRIVE_CHANGED)
    if wish.expression or by_inputs:
        powers.append(Permission.VIEW_PAYLOADS)
    return list(dict.fromkeys([*powers, *operators_powers(_change(wish, changed=changed))]))


def check_start(user: User, redrive: Redrive) -> None:
    """Raise Forbidden where the redrive does to an entry what the user may not."""
    mine = powers_on(user, redrive.workspace_id)
    for power in needed(redrive):
        if not mine.allows(power) and _lacking(user, redrive, power).exists():
            raise refused(mine.role, power, limited=mine.limited)
    check_approved(user, redrive)


def check_approved(user: User, redrive: Redrive) -> None:
    """Raise Forbidden where a step would run with other inputs under a given approval.

    New executions ask again by themselves. Authors may, as with one entry.
    """
    if redrive.scope != RedriveScope.STEP or not (redrive.overrides or redrive.expression):
        return
    mine = powers_on(user, redrive.workspace_id)
    if mine.allows(Action.AUTHOR):
        return
    rows = _lacking(user, redrive, Action.AUTHOR).order_by()
    executions: list[UUID] = list(rows.values_list("execution_id", flat=True).distinct())
    check_change(mine, AccessChange(approved=bool(given_in(executions))))


def _lacking(user: User, redrive: Redrive, power: Power) -> QuerySet[DeadLetterEntry]:
    rows = DeadLetterEntry.objects.filter(redrive_items__redrive=redrive)
    return rows.exclude(pk__in=visible(user, rows, power).values("pk"))


def _change(wish: Any, *, changed: bool) -> AccessChange:
    if wish.scope == RedriveScope.STEP:
        return AccessChange()
    base = BASES.get(str(wish.version), Base.OTHER)
    if wish.scope == RedriveScope.FROM:
        return AccessChange(base, inside=True, steps=changed)
    return AccessChange(base, payload=changed)
