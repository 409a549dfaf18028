"""What a signature means, as a definition and the input of one execution.

The definition holds the shape alone: which task after which. Arguments are in the input
(`input.calls[n]`), so calls of one shape share a version. No database, no broker.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from celery.canvas import Signature
from celery.canvas import group as Group  # noqa: N812 - a class by Celery's name

# A retry is the task's to decide: attempts are as many as the format has, delays are its own.
RETRY = {"maxAttempts": 100, "baseSeconds": 0, "jitter": 0}
CARRIED = frozenset({"task_id", "ignore_result", "priority"})
CHAIN, GROUP, CHORD = "celery.chain", "celery.group", "celery.chord"
REFUSED = {
    "celery.map": "`map` is one task that calls another; write a group",
    "celery.starmap": "`starmap` is one task that calls another; write a group",
    "celery.chunks": "`chunks` is one task that calls another; write a group",
}


class UntranslatableError(ValueError):
    """A part of a signature has no durable form; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class Value:
    """What a part of the canvas comes to: an expression, and the tasks that end before it."""

    text: str
    ends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Translated:
    """A definition, and what `input` has to be for this call."""

    definition: Mapping[str, Any]
    payload: Mapping[str, Any]
    slug: str


@dataclass(slots=True)
class _Drawing:
    tasks: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def place(self, part: Any, given: Value | None) -> Value:
        """Add a part that gets `given` as its first argument (None: nothing came before)."""
        if _kind(part) == CHAIN:
            return self._chain(part, given)
        if _kind(part) == CHORD:
            _check_options(part)
            return self.place(part.body, self.place(_group(part.tasks, part), given))
        if _kind(part) == GROUP:
            return self._group(part, given)
        return self._task(part, given)

    def _chain(self, chain: Any, given: Value | None) -> Value:
        _check_options(chain)
        for part in chain.tasks:
            given = self.place(_unrolled(part), given)
        return given or Value("none")

    def _group(self, group: Any, given: Value | None) -> Value:
        _check_options(group)
        parts = [self.place(part, given) for part in group.tasks]
        ends = tuple(dict.fromkeys(end for part in parts for end in part.ends))
        before = given.ends if given is not None else ()
        return Value(f"[{', '.join(part.text for part in parts)}]", ends or before)

    def _task(self, task: Any, given: Value | None) -> Value:
        _check_task(task)
        number = len(self.tasks)
        name = f"t{number}"
        call = f"input.calls[{number}]"
        takes = given is not None and not task.immutable
        args = f"[{given.text}] + {call}.args" if given is not None and takes else f"{call}.args"
        step: dict[str, Any] = {
            "id": name,
            "use": "celery.task",
            "with": {
                "task": task.task,
                "args": f"{{{{ {args} }}}}",
                "kwargs": f"{{{{ {call}.kwargs }}}}",
            },
            "retry": RETRY,
        }
        if given is not None and given.ends:
            step |= {"after": list(given.ends), "join": "all"}
        self.tasks.append(step)
        self.calls.append(_call(task))
        return Value(f"tasks.{name}.output.result", (name,))


def translate(signature: Any) -> Translated:
    """The durable form of a signature; raises UntranslatableError."""
    drawing = _Drawing()
    value = drawing.place(signature, None)
    if not drawing.tasks:
        raise UntranslatableError(
            "The canvas has no task, so there is nothing to run. Give it at least one signature."
        )
    body = {
        "schema": "valkyr/1",
        "tasks": drawing.tasks,
        "output": {"result": f"{{{{ {value.text} }}}}"},
    }
    digest = sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    slug = f"celery-{digest[:24]}"
    return Translated({**body, "name": slug}, {"calls": drawing.calls}, slug)


def _kind(part: Any) -> str:
    """What a part of a canvas is, by the task that Celery has for its kind."""
    return (part.task or "") if isinstance(part, Signature) else ""


def _unrolled(part: Any) -> Any:
    """A group of one in a chain is its member: Celery makes no list of it."""
    alone = _kind(part) == GROUP and len(part.tasks) == 1
    return part.tasks[0] if alone else part


def _group(tasks: Any, chord: Any) -> Any:
    return tasks if isinstance(tasks, Group) else Group(tasks, app=chord.app)


def _check_task(task: Any) -> None:
    if not isinstance(task, Signature):
        raise UntranslatableError(
            f"A canvas is made of signatures; found {type(task).__name__}. Write task.s(…)."
        )
    if task.task in REFUSED:
        raise UntranslatableError(f"{task.task} cannot be durable: {REFUSED[task.task]}.")
    _check_options(task)


def _check_options(part: Any) -> None:
    """Refuse options whose meaning a durable step would not keep."""
    name = part.task
    if _kind(part) in (CHAIN, GROUP, CHORD) and part.args:
        raise UntranslatableError(
            f"The signature {name} has arguments of its own. Give them to the tasks inside it."
        )
    unknown = sorted(
        key for key, value in part.options.items() if value is not None and key not in CARRIED
    )
    if unknown:
        raise UntranslatableError(
            f"The signature {name} has the option {unknown[0]!r}, which a durable canvas does not "
            "carry. Leave it out, or send this signature by apply_async."
        )


def _call(task: Any) -> dict[str, Any]:
    """The arguments of a task, as JSON has them."""
    call = {"args": list(task.args), "kwargs": dict(task.kwargs)}
    try:
        found: dict[str, Any] = json.loads(json.dumps(call, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise UntranslatableError(
            f"An argument of {task.task} is no JSON: {error}. Pass numbers, texts, lists and "
            "mappings of them; of a model instance its primary key."
        ) from None
    return found
