"""Change the status, the owner and `muted` of a failure group; no other module changes these.

Each status change happens under the group's lock. Resolving a group leaves its dead letters open. A
redrive resolves a group only if no entry failed again and no dead letter of the group is open.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model

from dlq.groups import rules
from dlq.groups.errors import BadTerms, CannotOwn
from dlq.groups.locking import locked, locked_all
from dlq.models import DeadLetterEntry, FailureGroup, GroupStatus, Resolution
from executions.access import Action, powers_on
from executions.access.actor import Actor, record
from executions.database import accounts, transaction
from executions.database.clock import database_now
from executions.errors import WrongState

COUNTERS = Actor.system("failure counters")
# Fields that belong to one status, and that other statuses clear.
TERMS = ("snoozed_until", "snoozed_total", "snoozed_version", "resolved_in", "resolved_at")


def acknowledge(group_id: UUID, *, actor: Actor, reason: str = "") -> FailureGroup:
    """Set the group's status to ACKNOWLEDGED. Raises NotFound or WrongState."""
    return _decide(group_id, "acknowledge", GroupStatus.ACKNOWLEDGED, actor, reason)


def snooze(
    group_id: UUID,
    *,
    actor: Actor,
    until: datetime | None = None,
    total: int | None = None,
    version: int | None = None,
    reason: str = "",
) -> FailureGroup:
    """Hide the group until a time, a total count of failures, or a failure in a later version.

    The first condition that is met ends the snooze. Raises NotFound, WrongState, or BadTerms if no
    condition is given, or if the time or the count is already reached.
    """
    if until is None and total is None and version is None:
        raise BadTerms("Name the end of the snooze: a time, a count or a version.")
    with transaction.atomic():
        group = locked(group_id)
        now = database_now()
        if until is not None and until <= now:
            raise BadTerms(f"{until:%Y-%m-%d %H:%M} is in the past. Snooze until a future time.")
        if total is not None and total <= group.total:
            raise BadTerms(
                f"The group already has {group.total:,} failures. Snooze until a higher count."
            )
        before = group.status_before if group.status == GroupStatus.SNOOZED else group.status
        terms = {"snoozed_until": until, "snoozed_total": total, "snoozed_version": version}
        if before not in rules.UNSETTLED:
            before = GroupStatus.ACKNOWLEDGED
        _by_person(group, "snooze", GroupStatus.SNOOZED, actor, reason, before=before, **terms)
    return group


def resolve(
    group_id: UUID, *, actor: Actor, in_version: int | None = None, reason: str = ""
) -> FailureGroup:
    """Resolve the group; a later failure, in `in_version` or a newer version, is a regression.

    Without `in_version`, the version does not matter. The dead letters remain open. Raises
    NotFound, WrongState, or BadTerms for a version below 1.
    """
    if in_version is not None and in_version < 1:
        raise BadTerms(f"There is no version {in_version}. Version numbers start at 1.")
    return _decide(group_id, "resolve", GroupStatus.RESOLVED, actor, reason, resolved_in=in_version)


def ignore(group_id: UUID, *, actor: Actor, reason: str = "") -> FailureGroup:
    """Ignore the group: its failures are still counted, but do not cause notifications.

    Raises NotFound or WrongState.
    """
    return _decide(group_id, "ignore", GroupStatus.IGNORED, actor, reason)


def reopen(group_id: UUID, *, actor: Actor, reason: str = "") -> FailureGroup:
    """Reopen the group: set its status to NEW. Raises NotFound or WrongState."""
    return _decide(group_id, "reopen", GroupStatus.NEW, actor, reason)


def assign(group_id: UUID, owner_id: Any, *, actor: Actor, reason: str = "") -> FailureGroup:
    """Set the group's owner: an active user who may see the group, or None.

    Raises NotFound, CannotOwn, or WrongState if the group is merged.
    """
    with transaction.atomic():
        group = locked(group_id)
        before, owner = group.owner, _owner(group, owner_id)
        if group.owner_id == owner_id:
            return group
        group.owner = owner
        group.save(update_fields=["owner"])
        _note(group, "assign", actor, reason, {"owner": _name(before)}, {"owner": _name(owner)})
    return group


def mute(group_id: UUID, muted: bool = True, *, actor: Actor, reason: str = "") -> FailureGroup:
    """Mute or unmute the alerts of the group.

    Raises NotFound, or WrongState if the group is merged.
    """
    with transaction.atomic():
        group = locked(group_id)
        if group.muted != muted:
            group.muted = muted
            group.save(update_fields=["muted"])
            verb = "mute" if muted else "unmute"
            _note(group, verb, actor, reason, {"muted": not muted}, {"muted": muted})
    return group


def begin_redrive(group_ids: Iterable[UUID]) -> None:
    """Record in the caller's transaction that a redrive of these groups has started."""
    for group in _roots(group_ids):
        group.redriving += 1
        if group.status != GroupStatus.REDRIVING:
            before = group.status_before if group.status == GroupStatus.SNOOZED else group.status
            terms: dict[str, Any] = {}
            if before == GroupStatus.RESOLVED:
                since = standing_of(group).since
                terms = {"resolved_in": group.resolved_in, "resolved_at": since}
            move(group, GroupStatus.REDRIVING, before=before, **terms)
        group.save(update_fields=["redriving"])


def end_redrive(group_ids: Iterable[UUID], clean: bool) -> None:
    """End a redrive of these groups in the caller's transaction.

    `clean` is true if entries succeeded and none failed again. If a group's last redrive was clean
    and left no open entry, the group is resolved (unless ignored); otherwise it returns to
    `status_before`.
    """
    for group in _roots(group_ids):
        group.redriving = max(0, group.redriving - 1)
        if group.status == GroupStatus.REDRIVING and group.redriving == 0:
            rest = DeadLetterEntry.objects.filter(group=group, resolution=Resolution.PENDING)
            standing, anything_open = standing_of(group), rest.exists()
            to = rules.after_redrives(standing, clean=clean, anything_open=anything_open)
            terms: dict[str, Any] = {}
            if to == standing.before == GroupStatus.RESOLVED:
                since = None if clean and not anything_open else standing.since
                terms = {"resolved_in": group.resolved_in, "resolved_at": since}
            move(group, to, **terms)
        group.save(update_fields=["redriving"])


def standing_of(group: FailureGroup) -> rules.GroupStanding:
    """Return the group's facts on which the rules depend."""
    return rules.GroupStanding(
        status=GroupStatus(group.status),
        since=group.resolved_at or group.status_at,
        before=GroupStatus(group.status_before) if group.status_before else None,
        resolved_in=group.resolved_in,
        until=group.snoozed_until,
        total=group.snoozed_total,
        version=group.snoozed_version,
    )


def hear(group: FailureGroup, seen: rules.Occurrence, now: datetime) -> int | None:
    """Apply new failures to a locked group: end its snooze, or mark the group as regressed.

    Return the version in which the group regressed, or None. If the group regresses during a
    redrive, its status changes after the redrive.
    """
    standing = standing_of(group)
    number = rules.regressed_in(standing, seen)
    if number is not None and standing.status is GroupStatus.REDRIVING:
        group.status_before = GroupStatus.REGRESSED
        group.save(update_fields=["status_before"])
        _note(group, "regress", COUNTERS, "", {}, {"version": number})
    elif number is not None:
        move(group, GroupStatus.REGRESSED)
        after = {"status": str(group.status), "version": number}
        _note(group, "regress", COUNTERS, "", {"status": str(standing.status)}, after)
    elif rules.wakes(standing, seen, now):
        move(group, rules.back(standing))
        before, after = {"status": str(standing.status)}, {"status": str(group.status)}
        _note(group, "wake", COUNTERS, "", before, after)
    return number


def move(group: FailureGroup, to: GroupStatus, *, before: str = "", **terms: Any) -> None:
    """Change the status of a locked group. Raises WrongState if the change is not allowed."""
    if to not in rules.MOVES[GroupStatus(group.status)]:
        raise WrongState(
            f"Failure group {group.pk} is {group.get_status_display()}. Nothing was changed.",
            group.status,
        )
    group.status, group.status_before, group.status_at = to, before, database_now()
    for name in TERMS:
        setattr(group, name, terms.get(name))
    group.save(update_fields=["status", "status_before", "status_at", *TERMS])


def _decide(
    group_id: UUID, verb: str, to: GroupStatus, actor: Actor, reason: str, **terms: Any
) -> FailureGroup:
    with transaction.atomic():
        group = locked(group_id)
        _by_person(group, verb, to, actor, reason, **terms)
    return group


def _by_person(
    group: FailureGroup, verb: str, to: GroupStatus, actor: Actor, reason: str, **more: Any
) -> None:
    if group.status == GroupStatus.REDRIVING:
        raise WrongState(
            f"Failure group {group.pk} is being redriven. Wait until the redrive ends, or abort "
            "it.",
            group.status,
        )
    before = _facts(group)
    move(group, to, **more)
    _note(group, verb, actor, reason, before, _facts(group))


def _facts(group: FailureGroup) -> dict[str, Any]:
    """Return the group's status, and the conditions of this status, for the audit trail."""
    terms = {name: getattr(group, name) for name in TERMS}
    shown = {name: at.isoformat() if isinstance(at, datetime) else at for name, at in terms.items()}
    return {"status": str(group.status)} | {k: v for k, v in shown.items() if v is not None}


def _note(
    group: FailureGroup,
    verb: str,
    actor: Actor,
    reason: str,
    before: dict[str, Any],
    after: dict[str, Any],
) -> None:
    record(
        actor,
        f"group.{verb}",
        workspace_id=group.workspace_id,
        object_type=FailureGroup.AUDITED_AS,
        object_id=group.pk,
        reason=reason,
        before=before,
        after=after,
    )


def _roots(group_ids: Iterable[UUID]) -> list[FailureGroup]:
    """Lock and return the groups; a merged group is replaced by its target."""
    found = FailureGroup.objects.filter(pk__in=set(group_ids)).only("merged_into")
    groups = locked_all(group.merged_into_id or group.pk for group in found)
    if any(group.merged_into_id for group in groups):  # a merge held the lock and has ended
        return _roots(group.pk for group in groups)
    return groups


def _owner(group: FailureGroup, owner_id: Any) -> Any:
    if owner_id is None:
        return None
    user = get_user_model()._default_manager.filter(pk=owner_id).first()
    accounts.ensure(owner_id)
    if (
        user is None
        or not user.is_active
        or not powers_on(user, group.workspace_id, group.workflow_id).allows(Action.VIEW)
    ):
        raise CannotOwn(
            f"User {owner_id} cannot be the owner: choose an active user with access to this group."
        )
    return user


def _name(user: Any) -> str | None:
    return None if user is None else str(user.get_username())
