"""The workflows of tasks: one per backend, task and queue, and a separate one for deferred tasks.

A process publishes a workflow at its first use, or again if it was deleted; a changed definition
creates a version. A version published in a transaction is remembered only after the commit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from executions.public.database import transaction
from executions.public.errors import NotFound
from executions.public.models import Workspace
from executions.public.publishing import CodeVersion, publish_from_code
from executions.public.starting import Handle, start_from_code
from valkyr_plugins.task_backend.framework import AnyTask
from valkyr_plugins.task_backend.options import RetryValues, TaskOptions

ORIGIN = "django.tasks:"
STEP = "task"
STEP_PATH = f"{STEP}.main"
LONGEST_SLUG, LONGEST_ORIGIN = 80, 200


@dataclass(frozen=True, slots=True)
class TaskShape:
    """The properties of a task that determine its workflow; `queue` is the engine's queue."""

    backend: str
    path: str
    queue: str
    deferred: bool
    retry: str | RetryValues
    retry_on: tuple[str, ...]
    timeout: float
    workspace: str | None


_published: dict[TaskShape, CodeVersion] = {}


def shape_of(task: AnyTask, options: TaskOptions) -> TaskShape:
    """Return the properties that determine the workflow, from a task and its backend's options."""
    return TaskShape(
        backend=task.backend,
        path=task.module_path,
        queue=options.queue(task.queue_name),
        deferred=task.run_after is not None,
        retry=options.retry,
        retry_on=options.retry_on,
        timeout=options.timeout,
        workspace=options.workspace,
    )


def start(shape: TaskShape, payload: Any, priority: int) -> Handle:
    """Start an execution of the workflow that `shape` determines; publish it at the first use.

    Raises the errors of `publish_from_code` and `start_from_code`, and NotFound for an unknown
    workspace.
    """
    known = _published.get(shape)
    if known is not None:
        try:
            return _start(known, payload, priority)
        except NotFound:  # deleted meanwhile, or published in another database, as in tests
            _published.pop(shape, None)
    return _start(_publish(shape), payload, priority)


def _start(version: CodeVersion, payload: Any, priority: int) -> Handle:
    return start_from_code(
        version.workflow_id, payload, version_id=version.version_id, priority=priority
    )


def _publish(shape: TaskShape) -> CodeVersion:
    version = publish_from_code(
        _slug(shape),
        definition(shape),
        origin=f"{ORIGIN}{shape.path}"[:LONGEST_ORIGIN],
        workspace=_workspace(shape.workspace),
    )
    remember: Callable[[], Any] = partial(_published.__setitem__, shape, version)
    transaction.on_commit(remember)
    return version


def _workspace(slug: str | None) -> Workspace | None:
    if slug is None:
        return None
    found = Workspace.objects.filter(slug=slug).first()
    if found is None:
        raise NotFound(
            f"TASKS names the workspace {slug!r} in OPTIONS['workspace'], which does not "
            "exist. Create it in the admin, or omit the option."
        )
    return found


def definition(shape: TaskShape) -> dict[str, Any]:
    """Return the workflow's definition: the task's step, after a delay if the task is deferred."""
    retry = shape.retry if isinstance(shape.retry, str) else shape.retry.model_dump()
    given: dict[str, Any] = {
        "path": shape.path,
        "args": "{{ input.args }}",
        "kwargs": "{{ input.kwargs }}",
    }
    if shape.retry_on:
        given["retryOn"] = list(shape.retry_on)
    step: dict[str, Any] = {
        "id": STEP,
        "use": "django.task",
        "with": given,
        "queue": shape.queue,
        "retry": retry,
        "timeoutSeconds": shape.timeout,
    }
    tasks = [step]
    if shape.deferred:
        until = {"until": "{{ input.runAfter }}"}
        tasks = [{"id": "wait", "use": "flow.delay", "with": until}, step | {"after": "wait"}]
    return {
        "schema": "valkyr/1",
        "name": _name(shape),
        "tasks": tasks,
        "output": f"{{{{ tasks.{STEP}.output.result }}}}",
    }


def _name(shape: TaskShape) -> str:
    """Return the task's path, any non-default backend and queue, and `deferred` if it applies."""
    more = [name for name in (shape.backend, shape.queue) if name != "default"]
    more += ["deferred"] if shape.deferred else []
    return f"{shape.path} ({', '.join(more)})" if more else shape.path


def _slug(shape: TaskShape) -> str:
    """Return the workflow's slug: the path, and a hash of backend, path, queue and deferral."""
    whole = f"{shape.backend}|{shape.path}|{shape.queue}|{shape.deferred}"
    mark = sha256(whole.encode()).hexdigest()[:10]
    readable = "".join(c if c.isascii() and c.isalnum() else "-" for c in shape.path.lower())
    return f"task-{readable}"[: LONGEST_SLUG - 11].rstrip("-") + f"-{mark}"
