"""The steps of a translated canvas: the ID, arguments, queue and limits of each step."""

import re
from collections.abc import Iterator
from typing import Any

from celery.canvas import maybe_signature

from valkyr_plugins.canvas.options import SignatureOptions, UntranslatableError
from valkyr_plugins.canvas.values import NoJsonError, packed

# The task itself decides about retries and their delays, so the number of attempts is the format's
# maximum.
RETRY = {"maxAttempts": 100, "baseSeconds": 0, "jitter": 0, "timeouts": False}
LONGEST_NAME = 120
LONGEST_ID = 80  # below the format's maximum of 100, so that a number can be added
OF_MANY = frozenset(
    {
        "celery.chain", "celery.group", "celery.chord", "celery.map", "celery.starmap",
        "celery.chunks",
    }
)  # fmt: skip


class StepIds:
    """Makes the IDs of a canvas's steps: the task's short name, with a number if the name is taken.

    IDs depend only on the order of the calls, so equal canvases have equal IDs.
    """

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}  # used names, with their highest number

    def new(self, task: str) -> str:
        """Return an ID for the next step of a task.

        For `shop.tasks.add`, the first ID is `add`, and the next is `add_2`.
        """
        wanted = _short(task)
        number = self._taken.get(wanted, 0) + 1
        found = wanted if number == 1 else f"{wanted}_{number}"
        while found in self._taken:
            number += 1
            found = f"{wanted}_{number}"
        self._taken[wanted] = number
        self._taken.setdefault(found, 1)
        return found


def _short(task: str) -> str:
    """Return the last part of a task's name, as an ID that templates can use after a dot."""
    last = re.sub(r"[^A-Za-z0-9_]+", "_", task.rpartition(".")[2]).strip("_")[:LONGEST_ID]
    return last if last and not last[0].isdigit() else f"task_{last}".rstrip("_")


def step_of(
    task: str, args: str, kwargs: Any, path: str, options: SignatureOptions
) -> dict[str, Any]:
    """Return the definition of a `celery.task` step, without an ID."""
    given: dict[str, Any] = {"task": task, "args": args, "kwargs": kwargs}
    if options.expires is not None:
        given["expires"] = f"{{{{ {path}.expires }}}}"
    if options.soft_time_limit is not None:
        given["softTimeLimit"] = options.soft_time_limit
    step: dict[str, Any] = {"use": "celery.task", "with": given, "retry": RETRY}
    if options.queue:
        step["queue"] = options.queue
    if options.time_limit is not None:
        step["timeoutSeconds"] = options.time_limit
    return step


def waiting_of(path: str, options: SignatureOptions) -> dict[str, Any] | None:
    """Return the step that delays a task; None if the task has neither countdown nor ETA.

    As in Celery, a countdown takes precedence over an ETA.
    """
    if options.countdown is not None:
        wait = {"seconds": f"{{{{ {path}.countdown }}}}"}
    elif options.eta is not None:
        wait = {"until": f"{{{{ {path}.eta }}}}"}
    else:
        return None
    return {"id": "wait", "use": "flow.delay", "with": wait}


def errbacks_of(errors: list[Any], call: dict[str, Any], path: str) -> list[dict[str, Any]]:
    """Return the error callbacks of a step: the tasks to call when the step fails permanently.

    Their arguments become a part of `call`, in the execution's input. Raises UntranslatableError.
    """
    found = []
    for number, one in enumerate(errors):
        errback = maybe_signature(one)
        if errback is None or errback.task in OF_MANY:
            raise UntranslatableError(
                "An error callback of a durable canvas must be one task. Use a task that starts "
                "the other tasks."
            )
        given = {"args": list(errback.args), "kwargs": dict(errback.kwargs)}
        call.setdefault("errbacks", []).append(packed_arguments(str(errback.task), given))
        at = f"{path}.errbacks[{number}]"
        found.append(
            {
                "task": errback.task,
                "args": f"{{{{ {at}.args }}}}",
                "kwargs": f"{{{{ {at}.kwargs }}}}",
                "immutable": bool(errback.immutable),
            }
        )
    return found


def packed_arguments(task: str, value: Any) -> Any:
    """Return arguments in the form in which rows store them. Raises UntranslatableError."""
    try:
        return packed(value)
    except NoJsonError as error:
        raise UntranslatableError(
            f"An argument of {task} is not valid JSON: {error}. Pass numbers, strings, dates, "
            "lists and mappings of them; for a model instance, pass its primary key."
        ) from None


def name_of(tasks: list[dict[str, Any]]) -> str:
    """Return the workflow's name: the names of the tasks in order, shortened if it is too long."""
    names = dict.fromkeys(_names(tasks))
    text = ", ".join(names)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _names(tasks: list[dict[str, Any]]) -> Iterator[str]:
    for task in tasks:
        module = task.get("modules", [task])[-1]
        if "body" in module:
            yield from _names(module["body"]["tasks"])
        else:
            yield module["with"]["task"]
