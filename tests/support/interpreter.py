"""What a workflow comes to, worked out by going through its tasks one after another.

Written from the format's description alone, and on the plain document, so that it shares neither
code nor data structures with the engine it is compared with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ERROR = "error"


class Missing(Exception):
    """A step had to run, and nobody said how it ended."""


@dataclass
class Story:
    """How an execution ends: its state, each task's outcome, and which steps did what."""

    state: str = "SUCCESS"
    outcomes: dict[str, str] = field(default_factory=dict)  # of tasks that ended
    skipped: set[str] = field(default_factory=set)  # tasks
    dead: set[str] = field(default_factory=set)  # steps that failed for good, nobody minding
    failed_over: set[str] = field(default_factory=set)  # steps whose error edge was taken
    done: set[str] = field(default_factory=set)  # steps that succeeded


def interpret(document: Mapping[str, Any], ends: Mapping[str, str]) -> Story:
    """The story of `{tasks, edges}` when each step that runs ends (after its retries) as told.

    `ends` maps a step's path to `success`, a gate's outcome, or `error`. Raises Missing.
    """
    story = Story()
    edges = document.get("edges", [])
    progress = True
    while progress:
        progress = False
        for task in document["tasks"]:
            name = task["id"]
            if name in story.outcomes or name in story.skipped or _dead(story, name):
                continue
            incoming = [edge for edge in edges if edge["to"] == name]
            sources = {edge["from"] for edge in incoming}
            if not all(s in story.outcomes or s in story.skipped for s in sources):
                continue
            progress = True
            if _wanted(task, incoming, story):
                _run(task, edges, ends, story)
            else:
                story.skipped.add(name)
    if story.dead:
        story.state = "FAILED"
    return story


def _wanted(task: Mapping[str, Any], incoming: list[Mapping[str, str]], story: Story) -> bool:
    if not incoming:
        return True
    taken = [story.outcomes.get(e["from"]) == e.get("on", "success") for e in incoming]
    return all(taken) if task.get("join", "any") == "all" else any(taken)


def _run(task: Mapping[str, Any], edges: Any, ends: Mapping[str, str], story: Story) -> None:
    name = task["id"]
    minded = any(edge["from"] == name and edge.get("on") == ERROR for edge in edges)
    for path in paths(task):
        if path not in ends:
            raise Missing(path)
        if ends[path] == ERROR:
            if minded:
                story.failed_over.add(path)
                story.outcomes[name] = ERROR
            else:
                story.dead.add(path)
            return
        story.done.add(path)
        story.outcomes[name] = ends[path]


def paths(task: Mapping[str, Any]) -> list[str]:
    """The paths of a task's steps, in order."""
    modules = task.get("modules") or [{"id": "main"}]
    return [f"{task['id']}.{module['id']}" for module in modules]


def _dead(story: Story, name: str) -> bool:
    return any(path.rpartition(".")[0] == name for path in story.dead)
