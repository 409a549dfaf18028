"""Reads a definition's YAML or JSON text into a document; nothing but JSON values come out.

Refused: more than 1 MiB, nesting past 64, a key given twice, aliases that multiply, values JSON
cannot hold.
"""

import json
from typing import Any

from executions.graph.problem import Problem
from executions.graph.yaml_text import read_yaml

MAX_BYTES = 1_048_576


class DefinitionError(Exception):
    """A text is not a definition; `problems` says why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def load_text(text: str, *, content_type: str) -> dict[str, Any]:
    raise NotImplementedError
