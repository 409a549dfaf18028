"""Example workflows, each of which is a single definition.

They are in `examples/` of the repository, and in the wheel next to this app's packages; a process
reads them once, on first use.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from executions.definition.catalog import catalog
from executions.definition.graph.document import load_text
from executions.definition.graph.reading import read_body
from executions.publishing import versioning

_APP = Path(__file__).parents[1]
FOLDER = next(
    (place for place in (_APP / "examples", _APP.parent / "examples") if place.is_dir()),
    _APP / "examples",
)


@dataclass(frozen=True, slots=True)
class PayloadSample:
    """An example workflow: its definition, and its title, description and tags for the list."""

    name: str
    title: str
    description: str
    tags: tuple[str, ...]
    definition: dict[str, Any]


@lru_cache(maxsize=1)
def samples() -> tuple[PayloadSample, ...]:
    """Return the publishable examples that consist of one file, sorted by name."""
    found = (_read(path) for path in sorted(FOLDER.glob("*/workflow.yaml")) if _alone(path))
    return tuple(sample for sample in found if not versioning.check(sample.definition))


def _alone(path: Path) -> bool:
    return len(list(path.parent.glob("*.yaml"))) == 1


def _read(path: Path) -> PayloadSample:
    definition = load_text(path.read_text(encoding="utf-8"), content_type="application/yaml")
    name = path.parent.name
    title = name.replace("-", " ").replace("_", " ").capitalize()
    return PayloadSample(
        name, title, definition.get("description", ""), _tags(definition), definition
    )


def _tags(definition: dict[str, Any]) -> tuple[str, ...]:
    """Return the categories of the example's modules, and the types of its triggers."""
    bodies = read_body(definition, (), catalog()).everywhere()
    modules = [module for body in bodies for task in body.tasks for module, _ in task.steps]
    kinds = {module.spec.category for module in modules if module.spec is not None}
    kinds |= {str(one.get("type", "")).lower() for one in definition.get("triggers", [])}
    return tuple(sorted(kinds))
