"""Which tasks a template reads, by index.

`ids` are the tasks by id of the body in which the template is rendered, then of each body around
it. A name means the innermost task that has it.
"""

from collections.abc import Mapping

from executions.definition.graph.definition import CALLBACK_URL
from executions.definition.templates import Template

Ids = tuple[Mapping[str, int], ...]


def tasks_read(template: Template, ids: Ids) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    """The tasks a template reads: those of its own body, and (level, index) of those around it."""
    own: set[int] = set()
    outer: set[tuple[int, int]] = set()
    for reference in template.references:
        if reference[0] != "tasks" or reference[2:] == (CALLBACK_URL,):
            continue
        level, task = _innermost(reference[1], ids)
        if level:
            outer.add((level, task))
        else:
            own.add(task)
    return frozenset(own), frozenset(outer)


def callbacks_read(template: Template, ids: Ids) -> frozenset[tuple[int, int]]:
    """The tasks whose address for a callback a template reads."""
    return frozenset(
        _innermost(reference[1], ids)
        for reference in template.references
        if reference[0] == "tasks" and reference[2:] == (CALLBACK_URL,)
    )


def histories_read(template: Template, task_by_id: Mapping[str, int]) -> frozenset[int]:
    """The tasks whose earlier outputs a template reads, or might: `tasks.a` alone names all."""
    return frozenset(
        task_by_id[reference[1]]
        for reference in template.references
        if reference[0] == "tasks"
        and reference[1] in task_by_id
        and (len(reference) < 3 or reference[2] == "history")
    )


def _innermost(name: str, ids: Ids) -> tuple[int, int]:
    """How many bodies up the innermost task of that name stands, and its index there."""
    level = next(level for level, known in enumerate(ids) if name in known)
    return level, ids[level][name]
