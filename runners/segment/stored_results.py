"""Load stored outputs that templates read, in place of the references in the loaded results.

Values are loaded before a transaction begins. In a transaction `load` raises `LoadsOutside`, and
the caller sends the step as a message instead.
"""

from operator import itemgetter
from typing import Any
from uuid import UUID

from executions import payload_store
from executions.database import connection
from executions.definition.graph.model import Step
from executions.definition.templates import TemplateError
from executions.payload_store import reading
from executions.payload_store.errors import StoredValueBroken, StoredValueTooLarge
from executions.payload_store.references import is_content
from executions.payloads import STORED, is_reference, references_in, trusted
from runners.conf import pool

OUTPUT = "output"
READ = (OUTPUT, "history")


class LoadsOutside(TemplateError):
    """A template reads a stored value, which cannot be loaded in a transaction."""


def load(data: Any, step: Step, scope: dict[str, Any]) -> None:
    """Load the stored values that the step's templates read, into the scope and the data.

    Raises TemplateError above the limit or for a missing value, PayloadStoreUnavailable, and
    LoadsOutside in a transaction.
    """
    if not payload_store.enabled():
        return
    tasks = scope["tasks"]
    found = {task_name for task_name in names_read(step.config.references) if task_name in tasks}
    load_outputs(data, {name: tasks[name] for name in found})
    for name, where in (("previous", scope), ("item", scope), ("loop", scope)):
        if name in where and _has_references(where[name]):
            where[name] = _loaded(data, where[name])
            if name == "previous":
                data.chain[step.previous] = where[name]


def refuse(references: Any, scope: dict[str, Any]) -> None:
    """Raise TemplateError if a condition or filter, rendered in a transaction, reads stored values.

    Otherwise it would read the references themselves.
    """
    if not payload_store.enabled():
        return
    tasks = scope["tasks"]
    read = {f"the output of {name}": tasks.get(name) for name in names_read(references)}
    leading = {names[0] for names in references}
    read |= {name: scope.get(name) for name in ("previous", "item", "loop") if name in leading}
    for name, value in read.items():
        if reading.size_of(value):
            raise TemplateError(
                f"{name} contains a value in object storage, which conditions and filters cannot "
                "read; compute what it needs in a step before it"
            )


def names_read(references: Any) -> set[str]:
    """Return the tasks whose outputs templates read."""
    return {
        str(names[1])
        for names in references
        if names[0] == "tasks" and len(names) > 1 and (len(names) < 3 or names[2] in READ)
    }


def load_outputs(data: Any, results: dict[str, dict[str, Any]], *, passes: bool = False) -> None:
    """Replace the references in these tasks' results; one size limit applies to their sum.

    With `passes`, values above the limit are not loaded: a template can pass them on, but not read
    them.
    """
    due = []
    for one in results.values():
        for name in READ:
            value = one.get(name)
            if isinstance(value, NotLoaded):
                value = value.reference
            if id(value) not in data.stored and _has_references(value):
                due.append((reading.size_of(value), one, name, value))
    if passes:
        due.sort(key=itemgetter(0))
    total = 0
    for size, one, name, reference in due:
        total += size
        try:
            reading.check_size(total)
        except StoredValueTooLarge as error:
            if not passes:
                raise TemplateError(str(error)) from error
            one[name], data.not_loaded = _not_loaded(reference, str(error)), True
            continue
        one[name] = _loaded(data, reference)
        data.stored[id(one[name])] = (one[name], trusted(reference))


class NotLoaded(dict[str, Any]):
    """A stored value that is too large for templates, which may only pass it on."""

    def __init__(self, reference: dict[str, Any], message: str) -> None:
        super().__init__({STORED: ""})
        self.reference = trusted(reference)
        self.message = message

    def _refused(self, *_: Any, **__: Any) -> Any:
        raise TemplateError(self.message)

    __getitem__ = __iter__ = __len__ = __contains__ = __reversed__ = __or__ = __ror__ = _refused
    __eq__ = __ne__ = __str__ = __repr__ = __format__ = __copy__ = __deepcopy__ = _refused
    get = items = keys = values = copy = _refused
    __hash__ = None


def _not_loaded(value: Any, message: str) -> Any:
    if is_reference(value):
        return trusted(value) if is_content(value) else NotLoaded(value, message)
    if isinstance(value, dict):
        return {name: _not_loaded(item, message) for name, item in value.items()}
    return [_not_loaded(item, message) for item in value] if isinstance(value, list) else value


def reference_to(data: Any, value: Any) -> Any:
    """Return the reference to a stored value, or the value itself if it is not stored."""
    kept = data.stored.get(id(value))
    return value if kept is None else kept[1]


def passed_on(data: Any, value: Any, *, loaded: bool = False) -> Any:
    """Return a rendered value with references in place of values that were not loaded.

    With `loaded`, values that were loaded whole are replaced as well.
    """
    if isinstance(value, NotLoaded):
        return value.reference
    if id(value) in data.stored:
        return data.stored[id(value)][1] if loaded else value
    if type(value) is dict:
        return {name: passed_on(data, item, loaded=loaded) for name, item in value.items()}
    if type(value) is list:
        return [passed_on(data, item, loaded=loaded) for item in value]
    return value


def _has_references(value: Any) -> bool:
    return next(references_in(value), None) is not None


def _loaded(data: Any, value: Any) -> Any:
    if not reading.size_of(value):  # references to contents are passed on
        return trusted(value)
    if data.unloadable is not None:
        raise data.unloadable
    if connection.in_atomic_block:
        raise LoadsOutside("the template reads a stored value, which is loaded by the next worker")
    try:
        return data.source.load(data.context.version.workspace_id, value)
    except (StoredValueBroken, StoredValueTooLarge) as error:
        raise TemplateError(str(error)) from error


def read(workspace_id: UUID, value: Any) -> Any:
    """Return a value with its stored parts loaded; hold no connection during the loading."""
    if pool() == "threads":
        connection.close()
    return reading.load(workspace_id, value)
