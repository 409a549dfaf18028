"""Which tasks of the workflow itself the templates of a task read, those of its body included."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from executions.definition.graph.definition import CALLBACK_URL
from executions.definition.graph.reading import TaskEntry
from executions.definition.templates import inspect_template
from executions.definition.templating.errors import Pointer


@dataclass(frozen=True, slots=True)
class Read:
    """A task that is read, and where; of one that is `called`, only its address for a callback."""

    pointer: Pointer
    name: str
    called: bool = False


def reads_of(task: TaskEntry) -> Iterator[Read]:
    """Every read of a task beside this one; a body's own task of the same id hides that."""
    inner: Collection[str] = task.body.by_id if task.body is not None else ()
    for module in task.modules:
        later = module.spec.deferred if module.spec is not None else ()
        for key, value in (module.config or {}).items():
            for read in reads_in(value, (*module.pointer, "with", key)):
                if key not in later or read.name not in inner:
                    yield read
    if task.body is not None:
        for one in task.body.tasks:
            yield from (read for read in reads_of(one) if read.name not in inner)


def reads_in(value: object, pointer: Pointer) -> Iterator[Read]:
    """The tasks that the templates of a value read."""
    for place, reference in inspect_template(value)[0].located:
        if reference[0] == "tasks" and len(reference) > 1:
            yield Read((*pointer, *place), reference[1], reference[2:] == (CALLBACK_URL,))
