"""Errors that callers see: each has a stable code and a sentence for users."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID


class ValkyrError(Exception):
    """An operation failed; the message explains why, and usually what to do."""

    code = "error"

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (self.__doc__ or "").strip())

    @property
    def message(self) -> str:
        """Return the sentence for users."""
        return str(self)


class NotFound(ValkyrError):
    """The object does not exist, or is not in your workspaces. Check its ID."""

    code = "not_found"


class WrongState(ValkyrError):
    """The operation is not possible in the present state."""

    code = "wrong_state"

    def __init__(self, message: str, state: str) -> None:
        super().__init__(message)
        self.state = state


class Compensated(WrongState):
    """The execution is being undone or was undone. Its own steps do not run again."""

    code = "compensated"


class WithProblems(ValkyrError):
    """There are one or more mistakes, each with a path, a code and a sentence."""

    code = "invalid"

    def __init__(self, message: str, problems: Sequence[Any]) -> None:
        super().__init__(message)
        self.problems = list(problems)


class InvalidPayload(WithProblems):
    """The payload does not match the workflow's input schema."""

    code = "invalid_payload"


class InvalidDefinition(WithProblems):
    """The definition has problems. Fix them, then publish it."""

    code = "invalid_definition"


class Deadlocked(ValkyrError):
    """Two transactions waited for each other, and PostgreSQL ended this one. Run it again."""

    code = "deadlocked"


class NotPublished(ValkyrError):
    """The workflow has no published version. Publish it first."""

    code = "not_published"


class WorkflowDisabled(ValkyrError):
    """The workflow is disabled or archived. Enable a disabled workflow first."""

    code = "workflow_disabled"


class WorkspaceArchived(WorkflowDisabled):
    """The workspace is archived, so no execution starts in it. Restore it first."""

    code = "workspace_archived"


class Unchanged(ValkyrError):
    """At most `ui` changed since the latest version, so no new version is necessary."""

    code = "unchanged"


class StaleRevision(ValkyrError):
    """Another user changed the object. Fetch it again and repeat your change.

    For a workflow, `facts` contain its revision, and the user and time of its last recorded change.
    """

    code = "stale_revision"

    def __init__(self, message: str = "", facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.facts = dict(facts or {})


class KeyReused(ValkyrError):
    """The idempotency key was used for another request. Use a new key for each new request."""

    code = "key_reused"


class RequestInProgress(ValkyrError):
    """A request with the same idempotency key is running.

    Repeat the request to get its response.
    """

    code = "in_progress"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class QuotaExceeded(ValkyrError):
    """A limit of the workspace, or of the user in it, is reached.

    `retry_after` is in seconds; `facts` name the limit if it is hourly or daily.
    """

    code = "quota_exceeded"

    def __init__(
        self, message: str, retry_after: float, facts: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.facts = dict(facts or {})


class ConcurrencyConflict(ValkyrError):
    """The start would exceed the limit of its concurrency key, or cancel over 1,000 executions."""

    code = "concurrency_conflict"

    def __init__(self, message: str, holder_id: UUID | None = None) -> None:
        super().__init__(message)
        self.holder_id = holder_id


class SearchSealed(ValkyrError):
    """The payloads are sealed, so they cannot be searched. Search by other fields."""

    code = "payloads_sealed"


class JobFailed(ValkyrError):
    """A worker could not compute the result of the job."""

    code = "job_failed"

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code or JobFailed.code


class PayloadError(ValkyrError):
    """The value cannot be stored as JSON."""

    code = "bad_value"
