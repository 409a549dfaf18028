"""The work that a worker does for a remote step before a runner can lease the step."""

from collections.abc import Sequence
from uuid import UUID

from executions.public.messaging import task
from runners.public.leased_runs import PREPARE, TRANSPORT, prepare_runs


@task(PREPARE, **TRANSPORT)
def prepare_remote(execution_id: str, version_id: str, segments: Sequence[str]) -> None:
    """Render the inputs of remote steps, so that remote runners can lease the steps."""
    prepare_runs(UUID(execution_id), UUID(version_id), segments)
