"""Which dead letters a caller may redrive of those that were chosen, and what that needs."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from dlq.public.models import DeadLetterEntry, FailureGroup
from dlq.public.selection import chosen
from executions.public.access import Action, Actor, Power, User, obtain, powers_on, refused, visible
from executions.public.api import FREE_IDS
from executions.public.definitions import DefinitionProblem
from executions.public.errors import NotFound
from executions.public.models import Permission
from valkyr_plugins.redrive.making import make
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.permissions import check_approved, needed
from valkyr_plugins.redrive.wish import InvalidRedrive, Wish


def made(user: User, given: dict[str, Any], wish: Wish, actor: Actor) -> Redrive:
    """A draft of what the caller chose; raises Forbidden, NotFound, InvalidRedrive."""
    with transaction.atomic():
        by_inputs = bool(given.get("filter", {}).get("inputs"))
        rows = _permitted(user, given, needed(wish, by_inputs=by_inputs))
        redrive = make(rows, wish, actor=actor)
        require_bulk(user, redrive)
        check_approved(user, redrive)
    return redrive


def require_bulk(user: User, redrive: Redrive) -> None:
    """Raise Forbidden where there are many and the caller may not act on many at once."""
    if redrive.total <= FREE_IDS:
        return
    entries = DeadLetterEntry.objects.filter(redrive_items__redrive=redrive)
    if visible(user, entries, Permission.BULK).count() < redrive.total:
        mine = powers_on(user, redrive.workspace_id)
        raise refused(mine.role, Permission.BULK, limited=mine.limited)


def _permitted(user: User, given: dict[str, Any], powers: list[Power]) -> QuerySet[DeadLetterEntry]:
    """The chosen rows over which the caller has all powers.

    Of ids every one must be such a row; a group and a filter mean those that are. Raises NotFound,
    Forbidden, InvalidRedrive.
    """
    wanted = _wanted(user, given)
    rows = wanted
    for power in powers:
        rows = visible(user, rows, power)
    if not rows.exists():
        _refuse(user, wanted, powers)
    if "ids" in given:
        _require_all(rows, given["ids"])
    return rows


def _wanted(user: User, given: dict[str, Any]) -> QuerySet[DeadLetterEntry]:
    rows = DeadLetterEntry.objects.all()
    if "ids" in given:
        return rows.filter(pk__in=given["ids"])
    if "groupId" in given:
        group, _ = obtain(user, FailureGroup.objects.all(), given["groupId"], Action.VIEW)
        return rows.filter(group_id=group.pk)
    return chosen(rows, given["filter"])


def _refuse(user: User, wanted: QuerySet[DeadLetterEntry], powers: list[Power]) -> None:
    """Say why none is left: not allowed, or not there as far as the caller may know."""
    known = visible(user, wanted, Action.VIEW) | visible(user, wanted, Action.TRIGGER)
    entry = known.only("id", "workspace_id", "workflow_id").first()
    if entry is None:
        raise NotFound("There are no such dead letters in your workspaces.")
    mine = powers_on(user, entry.workspace_id, entry.workflow_id)
    lacking = next((power for power in powers if not mine.allows(power)), powers[0])
    raise refused(mine.role, lacking, limited=mine.limited)


def _require_all(rows: QuerySet[DeadLetterEntry], ids: list[UUID]) -> None:
    found = set(rows.filter(pk__in=ids).values_list("pk", flat=True))
    problems = [
        DefinitionProblem(
            f"ids[{number}]", "not_found", f"There is no {pk} that you may redrive so."
        )
        for number, pk in enumerate(ids)
        if pk not in found
    ]
    if problems:
        raise InvalidRedrive("Some of the ids cannot be redriven by you.", problems[:FREE_IDS])
