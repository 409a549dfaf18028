"""Each example in Python is the same graph as the YAML file next to it."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from executions.definition.graph.document import load_text
from tests.support.equal_graphs import graph_of
from valkyr_plugins.python_workflows.workflow import DECLARED, PythonWorkflow

EXAMPLES = Path(__file__).parents[3] / "examples"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/workflow.yaml"))


def traced(path: Path) -> dict[str, Any]:
    names = runpy.run_path(str(path))
    (found,) = (one for one in names.values() if isinstance(one, PythonWorkflow))
    DECLARED.remove(found)
    return found.definition


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_example_in_python_is_the_graph_of_its_yaml(folder: Path) -> None:
    written = load_text((folder / "workflow.yaml").read_text(), content_type="yaml")

    assert graph_of(traced(folder / "workflow.py")) == graph_of(written)
