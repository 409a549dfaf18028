"""Use the generated Python client: start one execution and read it."""

import os
from uuid import UUID

from valkyr_client import AuthenticatedClient
from valkyr_client.api.workflow_execution import execute_workflow, get_workflow_execution
from valkyr_client.models import ExecutionState, Start, WorkflowExecution


def main() -> None:
    """Print the execution's id and its payload."""
    client = AuthenticatedClient(base_url=os.environ["URL"], token=os.environ["TOKEN"])
    started = execute_workflow.sync(
        UUID(os.environ["WORKFLOW"]), client=client, body=Start(params={"name": "Ada"})
    )
    assert isinstance(started, WorkflowExecution), started
    read = get_workflow_execution.sync(started.id, client=client)
    assert isinstance(read, WorkflowExecution), read
    assert read.state in {ExecutionState.PENDING, ExecutionState.RUNNING}, read.state
    print(read.id, read.trigger_payload)


main()
