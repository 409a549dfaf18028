"""The errors that callers see: each has a stable code and says what to do."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID


class ValkyrError(Exception):
    """Something could not be done; the message says what, why and what to do."""

    code = "error"

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (self.__doc__ or "").strip())

    @property
    def message(self) -> str:
        """Return the sentence for users."""
        return str(self)


class NotFound(ValkyrError):
    """There is no such thing, or not in your workspaces."""

    code = "not_found"


class WrongState(ValkyrError):
    """That cannot be done in the present state."""

    code = "wrong_state"

    def __init__(self, message: str, state: str) -> None:
        super().__init__(message)
        self.state = state


class Compensated(WrongState):
    """The execution is being undone, or was: no step of the workflow itself runs in it again."""

    code = "compensated"


class WithProblems(ValkyrError):
    """Several mistakes at once, each with a path, a code and a sentence."""

    code = "invalid"

    def __init__(self, message: str, problems: Sequence[Any]) -> None:
        super().__init__(message)
        self.problems = list(problems)


class InvalidPayload(WithProblems):
    """The payload breaks the workflow's input schema."""

    code = "invalid_payload"


class InvalidDefinition(WithProblems):
    """The definition has problems, so no version can be made of it."""

    code = "invalid_definition"


class Deadlocked(ValkyrError):
    """Two transactions waited for each other; run this one again."""

    code = "deadlocked"


class NotPublished(ValkyrError):
    """The workflow has no published version; publish it first."""

    code = "not_published"


class WorkflowDisabled(ValkyrError):
    """The workflow is switched off; enable it first."""

    code = "workflow_disabled"


class WorkspaceArchived(WorkflowDisabled):
    """The workspace is archived, so nothing starts in it; restore it first."""

    code = "workspace_archived"


class Unchanged(ValkyrError):
    """Nothing but `ui` changed since the latest version."""

    code = "unchanged"


class StaleRevision(ValkyrError):
    """Somebody else changed it meanwhile; fetch it again and repeat your change.

    `facts` say, for programs, at which revision it is, and who changed it last and when.
    """

    code = "stale_revision"

    def __init__(self, message: str = "", facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.facts = dict(facts or {})


class KeyReused(ValkyrError):
    """This idempotency key was used with another body."""

    code = "key_reused"


class RequestInProgress(ValkyrError):
    """A request with the same idempotency key is under way; ask again for its answer."""

    code = "in_progress"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class QuotaExceeded(ValkyrError):
    """A limit of the workspace's tier, or a quota, is reached.

    `retry_after` is in seconds; `facts` say which limit it is, for programs.
    """

    code = "quota_exceeded"

    def __init__(
        self, message: str, retry_after: float, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.facts = dict(facts or {})


class ConcurrencyConflict(ValkyrError):
    """As many executions with this concurrency key are under way as may be."""

    code = "concurrency_conflict"

    def __init__(self, message: str, holder_id: UUID | None = None) -> None:
        super().__init__(message)
        self.holder_id = holder_id


class JobFailed(ValkyrError):
    """A worker could not compute what was asked for."""

    code = "job_failed"

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code or JobFailed.code


class PayloadError(ValkyrError):
    """A value that cannot be stored as JSON."""

    code = "bad_value"
