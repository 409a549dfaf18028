"""Measured scientific and genomics workflows (tests/support/dags/, from wfcommons/WfInstances)."""

import json
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("dags")
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
SMALL = ("blast-small", "epigenomics-hep-1seq", "srasearch-10a")


def real_graph(name: str, use: str = "flow.noop", **by_task: Any) -> dict[str, Any]:
    """Return the definition of a measured workflow whose tasks all use one module.

    Each task waits for all its predecessors, as in the measured workflow. Each function in
    `by_task` is called with the task's number and returns the value of its key.
    """
    measured = json.loads((FOLDER / f"{name}.json").read_text())
    tasks = []
    for number, task in enumerate(measured["tasks"]):
        made = {"id": _slug(task["id"]), "use": use, "join": "all"}
        if task["after"]:
            made["after"] = [_slug(before) for before in task["after"]]
        tasks.append(made | {key: value(number) for key, value in by_task.items()})
    return {"schema": "valkyr/1", "name": measured["name"], "tasks": tasks}


def repeated(
    name: str, container: str, config: dict[str, Any], use: str = "flow.noop", **by_task: Any
) -> dict[str, Any]:
    """Return a measured workflow as the body of a `flow.map` or `flow.loop` named `again`.

    Each task adds the results of its predecessors, and the first tasks begin with the place's
    index; the workflow returns the container's result.
    """
    counter = "index" if container == "flow.map" else "loop.index"
    graph = real_graph(name, use, **by_task)
    for task in graph["tasks"]:
        before = [f"tasks['{source}'].output" for source in task.get("after", [])] or [counter]
        # Groups keep the expression flat; the remainder of a division keeps its numbers small.
        groups = [" + ".join(before[start : start + 20]) for start in range(0, len(before), 20)]
        value = {"value": f"{{{{ (({') + ('.join(groups)}) + 1) % 1000003 }}}}"}
        task["with"] = task.get("with", {}) | value
    body = {"tasks": graph["tasks"]}
    again = {"id": "again", "use": container, "with": config, "body": body}
    return graph | {"tasks": [again], "output": "{{ tasks.again.output }}"}


def _slug(name: str) -> str:
    """Return a task id without dots; the last 90 characters are enough to distinguish these
    names.
    """
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[-90:].lstrip("-")
