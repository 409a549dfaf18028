"""The workflows of every project: started through its API, executed by its worker and beat."""

from tests.hosts import workflows
from tests.hosts.client import Client
from tests.hosts.project import HostProject
from tests.support.waiting import wait_until

ALL = ("chain", "fan", "dead_letter_and_back", "approval")


def chain(project: HostProject, client: Client) -> None:
    """Run three steps in a chain, the last of which sleeps."""
    execution = client.execute(client.publish(workflows.CHAIN), {"n": 7})

    found = client.ended(execution, project.logs())

    assert found["state"] == "SUCCESS"
    assert found["output"] == {"text": "7 and more"}


def fan(project: HostProject, client: Client) -> None:
    """Run eight parallel steps, and one that waits for all of them."""
    execution = client.execute(client.publish(workflows.FAN), {})

    found = client.ended(execution, project.logs())

    assert found["state"] == "SUCCESS"
    assert found["output"] == {"text": "37"}


def dead_letter_and_back(project: HostProject, client: Client) -> None:
    """Store a step that failed permanently, and continue it with another input."""
    execution, letter = dead_letter(project, client)

    client.post(f"v1/DeadLetterQueue/{letter}/requeue", {"path": "inside.txt"})

    assert client.ended(execution, project.logs())["state"] == "SUCCESS"
    assert (project.folder / "files" / "inside.txt").read_text() == "noted"


def dead_letter(project: HostProject, client: Client, name: str = "note") -> tuple[str, str]:
    """Run an execution whose step fails permanently; return it and the dead letter.

    `name` is the workflow's name.
    """
    workflow = client.publish(workflows.NOTE | {"name": name})
    execution = client.execute(workflow, {"path": "../outside.txt"})
    assert client.ended(execution, project.logs())["state"] != "SUCCESS"
    (letter,) = client.dead_letters(workflow)
    return execution, letter["id"]


def approval(project: HostProject, client: Client) -> None:
    """Let a step wait for a user, who decides."""
    execution = client.execute(client.publish(workflows.APPROVAL), {})
    path = f"v1/Run?executionId={execution}&state=WAITING"
    wait_until(lambda: client.get(path), 30, f"a waiting step; {project.logs()}")
    (run,) = client.get(path)

    client.post(f"v1/Run/{run['id']}/decide", {"decision": "approved", "comment": "fine"})

    assert client.ended(execution, project.logs())["output"] == {"text": "fine"}


def began_by_beat(project: HostProject, client: Client, workflow: str) -> None:
    """Wait until the project's beat has started an execution of a workflow, at the next minute."""
    path = f"v1/WorkflowExecution?workflowId={workflow}&state=SUCCESS"

    wait_until(lambda: client.get(path), 90, f"a scheduled execution; {project.logs()}")
