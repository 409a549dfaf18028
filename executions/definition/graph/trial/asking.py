"""What a test run is asked for, and the mistakes that can be told from the names alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from executions.definition.graph.problem import DefinitionProblem, did_you_mean, problem
from executions.definition.graph.reading import BodyReading, outcomes_of
from executions.definition.graph.rules.references import bodies_by_task

SKIPPED = "skipped"  # as an outcome of a pinned task: no edge from it is taken


@dataclass(frozen=True, slots=True)
class Pin:
    """The result that a task is to have; without an outcome, the only one that leads on."""

    output: Any = None
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """Run up to a task, from a task on, or both; with given results in place of some tasks."""

    up_to: str | None = None
    start: str | None = None
    pinned: Mapping[str, Pin] = field(default_factory=dict)

    @property
    def everything(self) -> bool:
        """Whether no part of the workflow is asked for."""
        return self.up_to is None and self.start is None


def asking_problems(asked: TrialRequest, reading: BodyReading) -> Iterator[DefinitionProblem]:
    """Tasks that there are not, or that stand in a body; outcomes that a task cannot have."""
    for key, name in (("upTo", asked.up_to), ("from", asked.start)):
        if name is not None and name not in reading.by_id:
            yield _no_such_task(name, (key,), reading)
    for name, pin in asked.pinned.items():
        if name not in reading.by_id:
            yield _no_such_task(name, ("pinned", name), reading)
            continue
        possible = outcomes_of(reading.tasks[reading.by_id[name]])
        if pin.outcome is None or possible is None or pin.outcome in (*possible, SKIPPED):
            continue
        names = ", ".join(f'"{one}"' for one in (*possible, SKIPPED))
        hint = did_you_mean(pin.outcome, possible)
        message = f'"{name}" has no outcome "{pin.outcome}", only {names}{hint}'
        yield problem(("pinned", name, "outcome"), "unknown_outcome", message)


def _no_such_task(name: str, pointer: tuple[str, ...], reading: BodyReading) -> DefinitionProblem:
    holder = name.partition(".")[0].partition("[")[0]
    if holder == name or holder not in reading.by_id:
        body = bodies_by_task(reading).get(name)
        while body is not None and body.outside is not reading:
            body = body.outside
        holder = body.holder.id if body is not None and body.holder is not None else ""
    if holder:
        what = "pin" if pointer[0] == "pinned" else "test"
        message = (
            f'"{name}" stands in the body of "{holder}", which runs or is given as a whole; '
            f'{what} "{holder}" instead'
        )
        return problem(pointer, "in_a_body", message)
    hint = did_you_mean(name, reading.by_id)
    return problem(pointer, "unknown_task", f'there is no task "{name}"{hint}')
