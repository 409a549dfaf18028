"""The choices of this app's columns, and the allowed transitions of executions."""

from enum import StrEnum

from django.db.models import TextChoices

from executions.language import lazy


class ExecutionState(TextChoices):
    """The state of an execution; the last four are final."""

    PENDING = "PENDING", lazy("pending")
    RUNNING = "RUNNING", lazy("running")
    PAUSED = "PAUSED", lazy("paused")
    SUCCESS = "SUCCESS", lazy("succeeded")
    FAILED = "FAILED", lazy("failed")
    CANCELLED = "CANCELLED", lazy("cancelled")
    TIMEOUT = "TIMEOUT", lazy("timed out")


class TriggerType(TextChoices):
    """What started an execution or its root: a user or program (MANUAL), a trigger or a failure."""

    MANUAL = "MANUAL", lazy("manual")
    CRON = "CRON", lazy("schedule")
    EVENT = "EVENT", lazy("event")
    WEBHOOK = "WEBHOOK", lazy("webhook")
    QUEUE = "QUEUE", lazy("queue")


class CompensationState(TextChoices):
    """The progress of undoing an execution; NONE if undoing has not begun."""

    NONE = "", lazy("none")
    WAITING = "WAITING", lazy("waits for running steps")
    RUNNING = "RUNNING", lazy("undoing")
    DONE = "DONE", lazy("undone")
    FAILED = "FAILED", lazy("undo failed")


class CapacityState(TextChoices):
    """The state of an unfinished execution's capacity slot."""

    HELD = "HELD", lazy("held")
    FREE = "FREE", lazy("released while all its steps wait")
    WANTED = "WANTED", lazy("resumed; waiting for a free slot")
    ASKED = "ASKED", lazy("started in its caller's transaction; not counted yet")


class TickStatus(TextChoices):
    """The result of one fire time of a schedule."""

    FIRED = "FIRED", lazy("started an execution")
    QUEUED = "QUEUED", lazy("queued")
    SKIPPED = "SKIPPED", lazy("skipped")
    MISSED = "MISSED", lazy("missed during an outage")
    REFUSED = "REFUSED", lazy("could not be started")


class VersionKind(TextChoices):
    """The kind of a version: triggers start only published versions; users also start test ones."""

    PUBLISHED = "published", lazy("published")
    TEST = "test", lazy("test")


class JobState(TextChoices):
    """The state of a job that a request passes to a worker; the last two states are final."""

    QUEUED = "QUEUED", lazy("queued")
    RUNNING = "RUNNING", lazy("running")
    SUCCESS = "SUCCESS", lazy("succeeded")
    FAILED = "FAILED", lazy("failed")


class MoveState(StrEnum):
    """The progress of a workspace's move to another cell; the last two are final."""

    COPYING = "COPYING"
    SWITCHED = "SWITCHED"  # the workspace is in the target; its rows at the source remain
    DONE = "DONE"
    ABORTED = "ABORTED"


class Role(TextChoices):
    """The role of a member in a workspace; see docs/reference/api.md."""

    ADMIN = "ADMIN", lazy("administrator")
    USER = "USER", lazy("user")
    SYSTEM = "SYSTEM", lazy("system")
    WORKFLOW = "WORKFLOW", lazy("workflow author")


class Permission(TextChoices):
    """The permissions that a role may include; each can also be granted to a member separately."""

    VIEW_PAYLOADS = "view_payloads", lazy("view inputs, outputs and variables")
    REVEAL = "reveal", lazy("reveal masked values (recorded)")
    REDRIVE = "redrive", lazy("requeue and fix dead letters")
    REDRIVE_CHANGED = "redrive_with_overrides", lazy("requeue dead letters with other inputs")
    BULK = "bulk", lazy("act on many objects at once")
    DISCARD = "discard", lazy("discard dead letters")
    CONFIGURE = "configure", lazy("set credentials, quotas and triggers' secrets")
    DEPLOY = "deploy", lazy("apply definitions where only Git publishes")


class QuotaWindow(TextChoices):
    """The period of a counter: a full hour, or a day from midnight to midnight in UTC."""

    HOUR = "hour", lazy("hour")
    DAY = "day", lazy("day")


_S = ExecutionState

ACTIVE: frozenset[str] = frozenset({_S.RUNNING, _S.PAUSED})
UNFINISHED: frozenset[str] = ACTIVE | {_S.PENDING}
FINAL: frozenset[str] = frozenset({_S.SUCCESS, _S.FAILED, _S.CANCELLED, _S.TIMEOUT})

# The states to which each state may move. FAILED moves back when a dead letter is requeued.
MOVES: dict[str, frozenset[str]] = {
    _S.PENDING: frozenset({_S.RUNNING, _S.CANCELLED, _S.TIMEOUT}),
    _S.RUNNING: frozenset({_S.PAUSED, _S.SUCCESS, _S.FAILED, _S.CANCELLED, _S.TIMEOUT}),
    _S.PAUSED: frozenset({_S.RUNNING, _S.CANCELLED, _S.TIMEOUT}),
    _S.FAILED: frozenset({_S.RUNNING, _S.PENDING}),
    _S.SUCCESS: frozenset(),
    _S.CANCELLED: frozenset(),
    _S.TIMEOUT: frozenset(),
}


_C = CompensationState

# The states to which each state of a compensation may move; it begins WAITING.
COMPENSATION_MOVES: dict[str, frozenset[str]] = {
    _C.WAITING: frozenset({_C.RUNNING}),
    _C.RUNNING: frozenset({_C.DONE, _C.FAILED}),
    _C.DONE: frozenset(),
    _C.FAILED: frozenset({_C.RUNNING}),
}


def sources(target: str) -> tuple[str, ...]:
    """Return the states from which an execution may move to `target`, sorted."""
    return tuple(sorted(source for source, targets in MOVES.items() if target in targets))


class SessionKind(TextChoices):
    """How the requests of a session authenticate."""

    TOKEN = "TOKEN", lazy("tokens")
    BROWSER = "BROWSER", lazy("browser")


class SessionEnd(TextChoices):
    """The reason why a session ended before it expired."""

    SIGNED_OUT = "SIGNED_OUT", lazy("signed out")
    REVOKED = "REVOKED", lazy("ended from the list of sessions")
    REUSED = "REUSED", lazy("a refresh token was reused")
    PASSWORD = "PASSWORD", lazy("the password changed")
    SWITCHED_OFF = "SWITCHED_OFF", lazy("the account was disabled")
    LOST_RIGHTS = "LOST_RIGHTS", lazy("the account lost a role or status")
