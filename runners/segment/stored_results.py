"""Load the stored values that templates read, in place of the references to them.

Values are loaded before a transaction begins. In a transaction, `load` raises `LoadsOutside`, and
the caller sends the step as a message instead.
"""

from operator import itemgetter
from typing import Any
from uuid import UUID

from executions import payload_store
from executions.database import connection
from executions.definition.graph.model import Step
from executions.definition.templates import TemplateError
from executions.payload_store import blocks, reading, writing
from executions.payload_store.errors import StoredValueBroken, StoredValueTooLarge
from executions.payload_store.references import is_content
from executions.payload_store.writing import Encoded
from executions.payloads import (
    MAX_BYTES,
    STORED,
    StoredReference,
    is_reference,
    references_in,
    trusted,
)
from runners.conf import pool
from runners.modules.base import Module

OUTPUT = "output"
READ = (OUTPUT, "history")
# The values that templates read besides results and variables.
GIVEN = frozenset({"input", "item", "loop", "previous"})


class LoadsOutside(TemplateError):
    """A template reads or creates a stored value, which is impossible in a transaction."""


def load(data: Any, step: Step, scope: dict[str, Any]) -> None:
    """Load the stored values that the step's templates read, into the scope and the data.

    A value above the limit is not loaded: a template can only pass it on. Raises TemplateError for
    a missing or damaged value, PayloadStoreUnavailable, and LoadsOutside in a transaction.
    """
    if not payload_store.enabled():
        return
    tasks, references = scope["tasks"], step.config.references
    found = {name: tasks[name] for name in names_read(references) if name in tasks}
    given = given_read(data, references, scope)
    load_outputs(data, {**found, **given})
    put_given(given, scope)
    if ("previous",) in given and not data.not_loaded:
        data.chain[step.previous] = scope["previous"]


def given_read(data: Any, references: Any, scope: dict[str, Any]) -> dict[Any, dict[str, Any]]:
    """Return the values, except results, that templates read and that contain stored parts.

    The keys are paths in the scope: (name,) or ("vars", name). Each value is in a dictionary, in
    the same form as a result.
    """
    wanted = {names[:2] if names[0] == "vars" else names[:1] for names in references}
    if ("vars",) in wanted:
        wanted |= {("vars", name) for name in scope["vars"]}
    made = {}
    for place in sorted(wanted & _with_references(scope, wanted)):
        raw = _at(scope, place)
        kept = data.given.get(place)
        if kept is None or kept[0] != raw:
            kept = data.given[place] = (raw, {OUTPUT: raw})
        made[place] = kept[1]
    return made


def put_given(given: dict[Any, dict[str, Any]], scope: dict[str, Any]) -> None:
    """Put loaded values into the scope, each under its path."""
    for place, found in given.items():
        if place[0] == "vars":
            scope["vars"] = {**scope["vars"], place[1]: found[OUTPUT]}
        else:
            scope[place[0]] = found[OUTPUT]


def _with_references(scope: dict[str, Any], wanted: set[Any]) -> set[Any]:
    readable = {place for place in wanted if place[0] in GIVEN or len(place) > 1}
    return {place for place in readable if _has_references(_at(scope, place))}


def _at(scope: dict[str, Any], place: tuple[str, ...]) -> Any:
    return scope["vars"].get(place[1]) if place[0] == "vars" else scope.get(place[0])


def refuse(references: Any, scope: dict[str, Any]) -> None:
    """Raise TemplateError if a condition or a filter reads stored values, which it cannot load.

    Otherwise the template would read the references themselves.
    """
    if not payload_store.enabled():
        return
    tasks = scope["tasks"]
    variables = scope["vars"]
    read = {f"the output of {name}": tasks.get(name) for name in names_read(references)}
    for names in references:
        if names[0] in GIVEN:
            read[names[0]] = scope.get(names[0])
        elif names[0] == "vars":
            read[".".join(map(str, names[:2]))] = (
                variables.get(names[1]) if len(names) > 1 else variables
            )
    for name, value in read.items():
        if reading.size_of(value):
            raise TemplateError(
                f"{name} contains a value in object storage, which conditions and filters cannot "
                "read; compute what it needs in a step before it"
            )


def names_read(references: Any) -> set[str]:
    """Return the IDs of the tasks whose outputs templates read."""
    return {
        str(names[1])
        for names in references
        if names[0] == "tasks" and len(names) > 1 and (len(names) < 3 or names[2] in READ)
    }


def load_outputs(data: Any, results: dict[Any, dict[str, Any]]) -> None:
    """Replace the references in these results with the stored values.

    One size limit applies to the sum of the values. Values above the limit are not loaded: a
    template can pass them on, but not read them.
    """
    due = []
    for one in results.values():
        for name in READ:
            value = one.get(name)
            if id(value) in data.stored:
                continue
            if data.not_loaded:
                value = passed_on(data, value)
            if _has_references(value):
                due.append((reading.size_of(value), one, name, value))
    due.sort(key=itemgetter(0))
    total = 0
    for size, one, name, reference in due:
        total += size
        try:
            reading.check_size(total)
        except StoredValueTooLarge as error:
            one[name], data.not_loaded = _not_loaded(reference, str(error)), True
            continue
        one[name] = _loaded(data, reference)
        data.stored[id(one[name])] = (one[name], trusted(reference))


class NotLoaded(dict[str, Any]):
    """A stored value that is too large or cannot be loaded; templates can only pass it on."""

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
    """Return the reference to a value that is stored, or the value itself if it is not stored."""
    kept = data.stored.get(id(value))
    return value if kept is None else kept[1]


def passed_on(data: Any, value: Any, *, loaded: bool = False) -> Any:
    """Return a rendered value with references in place of values that were not loaded.

    With `loaded`, values that were completely loaded are also replaced.
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
    if not reading.size_of(value):  # references to contents remain references
        return trusted(value)
    if data.unloadable is not None:
        raise data.unloadable
    if connection.in_atomic_block:
        raise LoadsOutside("the template reads a stored value, which is loaded by the next worker")
    try:
        return data.source.load(data.context.version.workspace_id, value)
    except (StoredValueBroken, StoredValueTooLarge) as error:
        raise TemplateError(str(error)) from error


def load_recorded(data: Any, inputs: Any) -> Any:
    """Return recorded inputs with their stored values; values above the limit remain references.

    Raises TemplateError for a missing or damaged value, PayloadStoreUnavailable, and LoadsOutside.
    """
    if connection.in_atomic_block:
        raise LoadsOutside("the inputs are in object storage; the next worker loads them")
    release_connection()
    try:
        return reading.load(data.context.version.workspace_id, inputs, partly=True)
    except StoredValueBroken as error:
        raise TemplateError(str(error)) from error


def load_items(data: Any, reference: dict[str, Any], indexes: list[int]) -> dict[int, Any]:
    """Return items of a stored list, keyed by index; above a limit, only those in the first blocks.

    Raises TemplateError for a missing, damaged or oversized value, PayloadStoreUnavailable, and
    LoadsOutside in a transaction.
    """
    if connection.in_atomic_block:
        raise LoadsOutside("the map's items are in object storage; the next worker reads them")
    release_connection()
    try:
        return blocks.items_at(data.context.version.workspace_id, reference, indexes)
    except (StoredValueBroken, StoredValueTooLarge) as error:
        raise TemplateError(str(error)) from error


def load_changes(data: Any, changes: Any) -> Any:
    """Return an operator's changes to a step's inputs, loaded if they are stored.

    Raises TemplateError for a missing, damaged or oversized value, PayloadStoreUnavailable, and
    LoadsOutside in a transaction.
    """
    if not is_reference(changes):
        return changes
    if connection.in_atomic_block:
        raise LoadsOutside("the changed inputs are in object storage; the next worker reads them")
    try:
        return read(data.context.version.workspace_id, changes, MAX_BYTES)
    except (StoredValueBroken, StoredValueTooLarge) as error:
        raise TemplateError(str(error)) from error


def load_wake(data: Any, wake: Any, module: Module[Any]) -> Any:
    """Return the wake-up data; a stored payload is loaded unless the module passes it on.

    Raises TemplateError for a missing, damaged or oversized payload, and PayloadStoreUnavailable.
    """
    payload = wake.get("payload") if isinstance(wake, dict) else None
    if not is_reference(payload) or module.passes_payload:
        return wake
    try:
        found = read(data.context.version.workspace_id, payload, MAX_BYTES)
        return wake | {"payload": found}
    except (StoredValueBroken, StoredValueTooLarge) as error:
        raise TemplateError(str(error)) from error


def put(data: Any, found: Encoded) -> StoredReference:
    """Store a value for the data's execution, and return a reference to it.

    Raises PayloadStoreUnavailable, the errors of sealing, and LoadsOutside in a transaction.
    """
    if connection.in_atomic_block:
        raise LoadsOutside("the inputs belong into object storage; the next worker writes them")
    context = data.context
    workspace_id = context.version.workspace_id
    row = writing.note(workspace_id, context.execution_id, found, context.sealer.key)
    release_connection()
    writing.write(workspace_id, row, found.parts())
    writing.written(row)
    release_connection()
    return writing.refer(row, found.value)


def read(workspace_id: UUID, value: Any, most: int | None = None) -> Any:
    """Call `release_connection`, then return a value with its stored parts loaded."""
    release_connection()
    return reading.load(workspace_id, value, most)


def release_connection() -> None:
    """Return a thread's connection to the pool while the thread waits for the payload store."""
    if pool() == "threads" and not connection.in_atomic_block:
        connection.close()
