"""Watch running canaries: stop or promote them when their conditions are met.

Beat requests a check every second, and a failed execution of a canary requests one
immediately. A check counts at most 5,000 executions of each version. `stop_rule` decides whether to
stop; its sequential test stays valid however often it is repeated.
"""

import logging
from collections.abc import Collection
from contextlib import suppress
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from django.dispatch import receiver

from executions.public.database import ClockTimestamp, transaction
from executions.public.errors import WrongState
from executions.public.events import execution_failed
from executions.public.messaging import CONTROL, send
from executions.public.models import WorkflowExecution
from executions.public.publishing import versioning
from valkyr_plugins.canary import figures, lifecycle
from valkyr_plugins.canary.models import Canary, CanaryState
from valkyr_plugins.canary.stop_rule import may_promote, reason_to_stop

log = logging.getLogger(__name__)

# Seconds after which one pass leaves the remaining canaries to the next.
TURN_SECONDS = 0.8
MOST = 500
LOOK = "valkyr_canary.look"


def watch() -> int:
    """Check running canaries for a short time, longest unchecked first; return how many ended."""
    until = monotonic() + TURN_SECONDS
    ended = 0
    rows = Canary.objects.filter(state=CanaryState.RUNNING).order_by("watched_at")
    for pk in list(rows.values_list("pk", flat=True)[:MOST]):
        if monotonic() > until:
            break
        try:
            ended += look(pk)
        except Exception:
            log.exception("could not look at canary %s; trying again", pk)
    return ended


def look(canary_id: UUID) -> bool:
    """Stop or promote a canary whose conditions are met; return whether the canary ended."""
    running = Canary.objects.filter(pk=canary_id, state=CanaryState.RUNNING)
    rows = running.select_related("version", "latest").defer(*lifecycle.TEXTS)
    canary = rows.annotate(now=ClockTimestamp()).first()
    if canary is None:
        return False
    rule = figures.rule_of(canary)
    found = figures.compare(canary)
    reason = None
    if rule is not None:
        reason = reason_to_stop(rule, found.canary.counts, found.latest.counts, found.new_groups)
    due = canary.promote_at is not None and canary.promote_at <= canary.now
    # A user may have ended the canary meanwhile, or only Git may publish since then.
    with suppress(WrongState, versioning.PublishedFromGit):
        if reason is not None:
            lifecycle.stop(canary_id, actor=lifecycle.ENGINE, reason=reason)
            return True
        if due and may_promote(rule, found.canary.counts):
            lifecycle.promote(
                canary_id, actor=lifecycle.ENGINE, reason="The promotion time was reached."
            )
            return True
    # Written only now, when everything that ended before this time was counted and decided on.
    running.filter(watched_at__lt=canary.now).update(watched_at=canary.now)
    return False


def look_after_failure(execution_id: UUID) -> bool:
    """Check the running canary that a failed execution used; return whether the canary ended."""
    failed = WorkflowExecution.objects.filter(pk=execution_id, canary=True).values("version_id")
    pk = (
        Canary.objects.filter(version_id__in=failed, state=CanaryState.RUNNING)
        .values_list("pk", flat=True)
        .first()
    )
    return pk is not None and look(pk)


@receiver(execution_failed)
def note_failure(sender: Any, execution: WorkflowExecution, **_: Any) -> None:
    """Request a check after the commit, if the execution used a canary's version. Uses no query."""
    if execution.canary:
        transaction.on_commit(lambda: send(LOOK, [str(execution.pk)], CONTROL), robust=True)


def unanswered() -> QuerySet[Canary]:
    """Return the stopped canaries of workflows without a running canary or newer latest version."""
    return Canary.objects.filter(
        state=CanaryState.STOPPED,
        workflow__latest_version=F("latest"),
        workflow__canary_version=None,
    )


def lasting(ids: Collection[UUID]) -> set[UUID]:
    """Return the given IDs whose canaries `unanswered` returns."""
    return set(unanswered().filter(pk__in=ids).values_list("pk", flat=True))
