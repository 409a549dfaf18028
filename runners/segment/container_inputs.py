"""Large inputs of loops and maps: each large field is stored separately.

The engine reads the small fields, such as `maxConcurrency`, from the row. A map's items are stored
in blocks, so that a body reads its item without loading all items.
"""

from typing import Any

from executions.configuration import settings as valkyr_settings
from executions.definition.graph.model import Graph, Step
from executions.payload_store import blocks, writing
from runners.segment import stored_results

ITEMS = "items"


def put_fields(data: Any, step: Step, value: dict[str, Any], what: str) -> dict[str, Any]:
    """Store the large fields of a container's inputs; return the inputs with references to them.

    The other fields together are below the threshold. Raises the errors of `stored_results.put`.
    """
    settings = valkyr_settings()
    above = settings.payload_store_above // len(value)
    kept = dict(value)
    for name, field in value.items():
        if not writing.is_above(field, above):
            continue
        found = writing.encoded(field, what, settings.payload_store_limit)
        reference = stored_results.put(data, found)
        if step.container == "map" and name == ITEMS and isinstance(field, list):
            reference = blocks.with_blocks(reference, field)
        kept[name] = reference
    return kept


def reads_items_locked(step: Step, graph: Graph) -> bool:
    """Return whether a condition or a filter in a map's body reads the item.

    The engine renders these under the execution's lock, so it keeps the items of such a map in the
    row.
    """
    body = graph.tasks[step.task].body
    return step.container == "map" and body is not None and _defers_item(body)


def _defers_item(body: Graph | None) -> bool:
    """Return whether a body reads the item of the map around it in a deferred template."""
    if body is None:
        return False
    later = (template for step in body.steps for template in step.deferred.values())
    if any(names[0] == "item" for template in later for names in template.references):
        return True
    loops = (task.body for task in body.tasks if task.body is not None and task.body.kind == "loop")
    return any(map(_defers_item, loops)) or _defers_item(body.undo)
