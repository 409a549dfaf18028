"""The states of an execution and the moves between them; `lifecycle.py` alone makes the moves."""

from django.db.models import TextChoices


class ExecutionState(TextChoices):
    """Where an execution is in its life; the last four are final."""

    PENDING = "PENDING", "pending"
    RUNNING = "RUNNING", "running"
    PAUSED = "PAUSED", "paused"
    SUCCESS = "SUCCESS", "succeeded"
    FAILED = "FAILED", "failed"
    CANCELLED = "CANCELLED", "cancelled"
    TIMEOUT = "TIMEOUT", "timed out"


class TriggerType(TextChoices):
    """What asked for an execution."""

    MANUAL = "MANUAL", "manual"
    CRON = "CRON", "schedule"
    EVENT = "EVENT", "event"
    WEBHOOK = "WEBHOOK", "webhook"
    QUEUE = "QUEUE", "queue"


class CompensationState(TextChoices):
    """How far an execution's undo steps are; NONE where none was ever due."""

    NONE = "", "none"
    WAITING = "WAITING", "waits for running steps"
    RUNNING = "RUNNING", "undoing"
    DONE = "DONE", "undone"
    FAILED = "FAILED", "undo failed"


class CapacityState(TextChoices):
    """Whether an execution under way counts against its workspace's limit."""

    HELD = "HELD", "held"
    FREE = "FREE", "given up while everything in it waits"
    WANTED = "WANTED", "woken, and none is free yet"
    ASKED = "ASKED", "started within its caller's transaction, and not counted yet"


class TickStatus(TextChoices):
    """What became of one fire time of a schedule."""

    FIRED = "FIRED", "started an execution"
    QUEUED = "QUEUED", "waits for its turn"
    SKIPPED = "SKIPPED", "skipped"
    MISSED = "MISSED", "missed while nothing fired"
    REFUSED = "REFUSED", "could not be started"


class VersionKind(TextChoices):
    """A published version serves every trigger; a test version only a person."""

    PUBLISHED = "published", "published"
    TEST = "test", "test"


class JobState(TextChoices):
    """The state of a job that a request leaves to a worker; the last two are final."""

    QUEUED = "QUEUED", "queued"
    RUNNING = "RUNNING", "running"
    SUCCESS = "SUCCESS", "succeeded"
    FAILED = "FAILED", "failed"


class Role(TextChoices):
    """What a member may do in a workspace; see docs/reference/api.md."""

    ADMIN = "ADMIN", "administrator"
    USER = "USER", "user"
    SYSTEM = "SYSTEM", "system"
    WORKFLOW = "WORKFLOW", "workflow author"


class Permission(TextChoices):
    """What a role may or may not include; each can be given to a member by itself."""

    VIEW_PAYLOADS = "view_payloads", "see inputs, outputs and variables"
    REVEAL = "reveal", "reveal masked values, which is written down"
    REDRIVE = "redrive", "requeue and fix dead letters"
    REDRIVE_CHANGED = "redrive_with_overrides", "requeue dead letters with other inputs"
    BULK = "bulk", "act on many objects at once"
    DISCARD = "discard", "discard dead letters"
    CONFIGURE = "configure", "set credentials, quotas and triggers' secrets"


class QuotaWindow(TextChoices):
    """How long a counter counts: from one full hour, or midnight in UTC, to the next."""

    HOUR = "hour", "hour"
    DAY = "day", "day"


_S = ExecutionState

ACTIVE: frozenset[str] = frozenset({_S.RUNNING, _S.PAUSED})
UNFINISHED: frozenset[str] = ACTIVE | {_S.PENDING}
FINAL: frozenset[str] = frozenset({_S.SUCCESS, _S.FAILED, _S.CANCELLED, _S.TIMEOUT})

# From each state, the states it may go to. FAILED goes home when a dead letter is requeued.
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

# From each state of a compensation, those it may go to; it begins WAITING.
COMPENSATION_MOVES: dict[str, frozenset[str]] = {
    _C.WAITING: frozenset({_C.RUNNING}),
    _C.RUNNING: frozenset({_C.DONE, _C.FAILED}),
    _C.DONE: frozenset(),
    _C.FAILED: frozenset({_C.RUNNING}),
}


def sources(target: str) -> tuple[str, ...]:
    """The states from which `target` may be reached, sorted."""
    return tuple(sorted(source for source, targets in MOVES.items() if target in targets))


class SessionKind(TextChoices):
    """How a session's requests say who they are."""

    TOKEN = "TOKEN", "tokens"
    BROWSER = "BROWSER", "browser"


class SessionEnd(TextChoices):
    """Why a session ended before it expired."""

    SIGNED_OUT = "SIGNED_OUT", "signed out"
    REVOKED = "REVOKED", "ended from the list of sessions"
    REUSED = "REUSED", "a used refresh token was presented again"
    PASSWORD = "PASSWORD", "the password changed"
    SWITCHED_OFF = "SWITCHED_OFF", "the account was switched off"
    LOST_RIGHTS = "LOST_RIGHTS", "the account lost a role or status"
