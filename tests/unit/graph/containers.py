"""Loops and maps for tests of definitions, and their catalog."""

from runners.modules import registry
from tests.unit.graph.catalog import CATALOG, spec

CONTAINERS = CATALOG | {
    "flow.loop": registry.specs()["flow.loop"],
    "flow.map": registry.specs()["flow.map"],
    "flow.wait": spec("flow.wait", waits=True),
    "flow.subworkflow": spec("flow.subworkflow", waits=True),
    "flow.wait_for_event": spec("flow.wait_for_event", waits=True, deferred=("filter",)),
}


def loop(task_id, *tasks, edges=(), after=None, **config):
    return _container("flow.loop", task_id, tasks, edges, after, config or {"count": 3})


def each(task_id, *tasks, edges=(), after=None, **config):
    return _container("flow.map", task_id, tasks, edges, after, {"items": [1, 2]} | config)


def reads(task_id, template, after=None):
    task = {"id": task_id, "use": "flow.noop", "with": {"v": template}}
    return task if after is None else task | {"after": after}


def _container(use, task_id, tasks, edges, after, config):
    body = {"tasks": list(tasks)} | ({"edges": list(edges)} if edges else {})
    task = {"id": task_id, "use": use, "with": config, "body": body}
    return task if after is None else task | {"after": after}
