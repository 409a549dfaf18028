"""Publish definitions and start executions through the product's own functions."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any
from uuid import UUID

from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.models import Tier, Workflow, WorkflowExecution, Workspace
from executions.publishing import versioning
from executions.states import FINAL
from executions.triggers.start import start_batch, start_execution
from runners.models import Runner
from tests.support.waiting import wait_until

ACTOR = Actor.system("tests")
_numbers = count(1)


def default_workspace() -> Workspace:
    """Return the default workspace; create it if a test emptied the tables."""
    if there := Workspace.objects.filter(slug=Workspace.DEFAULT_SLUG).first():
        return there
    tier, _ = Tier.objects.get_or_create(name="unlimited")
    return Workspace.objects.get_or_create(
        slug=Workspace.DEFAULT_SLUG, defaults={"name": "Default", "tier": tier}
    )[0]


def limited_workspace(places: int, *, waiting: int | None = None) -> Workspace:
    """Create a workspace in which at most `places` executions are active at once."""
    name = f"limited-{next(_numbers)}-{WorkflowExecution().pk.hex[-8:]}"
    tier = Tier.objects.create(name=name, max_concurrent=places, max_pending=waiting)
    return Workspace.objects.create(slug=name, name=name, tier=tier)


def publish(document: dict[str, Any], workspace: Workspace | None = None) -> Workflow:
    """Create and publish a workflow with this definition; its slug is unique."""
    document = {"schema": "valkyr/1", "name": "tested", **document}
    workflow = versioning.create_workflow(
        workspace or default_workspace(),
        name=document["name"],
        slug=f"w{next(_numbers)}-{WorkflowExecution().pk.hex[-8:]}",
        definition=document,
        actor=ACTOR,
    )
    versioning.publish(workflow.pk, actor=ACTOR)
    workflow.refresh_from_db()
    return workflow


def start(workflow: Workflow, payload: Any = None, **options: Any) -> UUID:
    """Start one execution; return its id."""
    return start_execution(workflow, payload or {}, actor=ACTOR, **options).execution.pk


def start_many(workflow: Workflow, payloads: Sequence[Any]) -> list[UUID]:
    """Start one execution per payload, in one transaction; return their ids."""
    return [execution.pk for execution in start_batch(workflow, payloads, actor=ACTOR)]


def states(ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return the executions' current states."""
    found = WorkflowExecution.objects.filter(pk__in=list(ids))
    return dict(found.values_list("pk", "state"))


def wait_for_end(ids: Iterable[UUID], seconds: float = 60) -> dict[UUID, str]:
    """Return the executions' states when all are final. Raise AssertionError with the others."""
    wanted = list(ids)

    def unfinished() -> dict[UUID, str]:
        return {pk: state for pk, state in states(wanted).items() if state not in FINAL}

    wait_until(
        lambda: not unfinished(),
        seconds,
        "the end of all executions",
        lambda: describe(unfinished()),
    )
    return states(wanted)


def describe(ids: Iterable[UUID]) -> str:
    """Return the rows of some executions, for the message of a failing test."""
    lines = [f"now={database_now()}"]
    lines += [f"{name} seen {seen}" for name, seen in Runner.objects.values_list("name", "seen_at")]
    for execution in WorkflowExecution.objects.filter(pk__in=list(ids)[:3]):
        lines.append(f"\n{execution.pk} {execution.state} {execution.error_message}")
        lines += [
            f"  {run.step_path} #{run.attempt} {run.state} {run.outcome} token={run.lease_token} "
            f"sent={run.publications} at={run.published_at} by={run.leased_by[:40]} "
            f"due={run.due_at} retry={run.retry_after} until={run.lease_until} {run.error[:120]}"
            for run in execution.runs.order_by("queued_at", "id")
        ]
    return "\n".join(lines)


def task(name: str, use: str = "flow.noop", after: Any = None, **more: Any) -> dict[str, Any]:
    """Return one task with one module."""
    given = {"id": name, "use": use, **more}
    return given if after is None else given | {"after": after}


def effect(name: str, after: Any = None, **inputs: Any) -> dict[str, Any]:
    """Return a task that writes a mark (`modules.py`); `inputs` may include `retry` and other task
    keys.
    """
    keys = ("retry", "timeoutSeconds", "join", "undo")
    own = {key: inputs.pop(key) for key in keys if key in inputs}
    return task(name, "test.effect", after, **{"with": inputs}, **own)
