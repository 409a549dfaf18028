"""Verify an execution as a job: a request creates the job, a worker computes the findings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from executions.public.errors import NotFound, PayloadError, ValkyrError, WrongState
from executions.public.jobs import Job, JobKind, ask, register
from executions.public.models import FINAL, WorkflowExecution
from executions.public.values import payloads
from runners.public.rendering import StepTimeout, time_limit

KIND = "verification"
SECONDS = 60.0


class VerificationTimeout(ValkyrError):
    """The verification did not finish within its time limit."""

    code = "verification_timeout"


def connect() -> None:
    """Register verification as a kind of job."""
    register(JobKind(KIND, "valkyr_plugins.timetravel.verification:work", SECONDS))


def request(execution_id: UUID, requested_by: str) -> Job:
    """Ask a worker to verify an execution; return the job.

    Raises NotFound, QuotaExceeded, or WrongState if the execution has not ended.
    """
    execution = (
        WorkflowExecution.objects.only("id", "state", "workspace_id")
        .filter(pk=execution_id)
        .first()
    )
    if execution is None:
        raise NotFound(f"There is no execution {execution_id}.")
    require_final(execution)
    workspace = execution.workspace_id
    return ask(KIND, execution_id, workspace_id=workspace, requested_by=requested_by)


def require_final(execution: WorkflowExecution) -> None:
    """Raise WrongState unless the execution has ended."""
    if execution.state not in FINAL:
        raise WrongState(
            f"Execution {execution.pk} is {execution.state}; only a completed execution can be "
            "verified. Wait for its end, or cancel it.",
            execution.state,
        )


def work(execution_id: UUID) -> dict[str, Any]:
    """Verify an execution in a worker; return the result as JSON. Raises VerificationTimeout."""
    from valkyr_plugins.timetravel.verify import verify

    try:
        with time_limit(SECONDS):
            found = verify(execution_id, seconds=SECONDS)
    except (StepTimeout, TimeoutError):
        raise VerificationTimeout(
            f"Verifying execution {execution_id} took more than {SECONDS:g} s. It has too many "
            "steps, or its expressions take too long."
        ) from None
    return {
        "same": found.same,
        "steps": found.steps,
        "complete": found.complete,
        "differences": [
            {
                "step_path": difference.step_path,
                "field": difference.field,
                "recorded": difference.recorded,
                "replayed": difference.replayed,
            }
            for difference in found.differences
        ],
    }


# The differences that are found when recorded steps are rendered and decided again. Pure.


MAX_DIFFERENCES = 100
MAX_SHOWN = 1_000  # maximum characters of a value's JSON


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that differs: as it was recorded, and as it was computed again.

    `step_path` is empty for a value of the execution.
    """

    step_path: str
    field: str
    recorded: Any
    replayed: Any


@dataclass(slots=True)
class Verification:
    """The number of runs rendered again, whether everything was compared, and the differences."""

    steps: int = 0
    complete: bool = True
    differences: list[Difference] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Return whether there are no differences."""
        return not self.differences

    def differs(self, step_path: str, name: str, recorded: Any, replayed: Any) -> None:
        """Add a difference; after 100 differences, record only that there are more."""
        if len(self.differences) < MAX_DIFFERENCES:
            self.differences.append(Difference(step_path, name, shown(recorded), shown(replayed)))
        else:
            self.complete = False

    def compare(self, step_path: str, name: str, recorded: Any, replayed: Any) -> None:
        """Add the differences between two values; compare two objects key by key."""
        for path, one, other in _unequal(name, recorded, replayed):
            self.differs(step_path, path, one, other)


def _unequal(name: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if one == other and type(one) is type(other):
        return
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}):
            yield from _unequal(f"{name}.{key}", one.get(key), other.get(key))
    else:
        yield name, one, other


def shown(value: Any) -> Any:
    """Return the value or, if it is too long or not valid JSON, a string that describes it."""
    try:
        text = payloads.dump(value, "value")
    except PayloadError:
        return f"(cannot be shown: {type(value).__name__})"
    if len(text) <= MAX_SHOWN:
        return value
    return f"({len(text):,} characters of JSON, SHA-256 {payloads.digest(text)})"
