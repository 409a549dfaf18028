"""Make a `python.code` task that runs a program, and templates for the program's inputs."""

from typing import Any

from valkyr_plugins.n8n.mapping import Made, NodeWork
from valkyr_plugins.n8n.shape import Shape, one

PYTHON = "It is python.code: an administrator must allow it (VALKYR_PYTHON_CODE)."
READ = """

def read(row, name):
    for key in name.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return row
"""


def program(work: NodeWork, code: str, inputs: dict[str, Any], shape: Shape | None = None) -> Made:
    """Return the task that runs a program, and remark that an administrator must allow it."""
    work.remark(PYTHON)
    found = shape or one(f"{work.output}.result")
    return work.made("python.code", {"code": code, "inputs": inputs}, found)


def listed(work: NodeWork, shape: Shape) -> str:
    """Return the template for an input's items or its one object; a `todo` if it has neither."""
    found = shape.items or shape.whole
    return "{{ " + (found or work.texts.left("an input of the node", shape.why)) + " }}"
