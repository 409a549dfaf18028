"""Graphs for tests of pure code: a definition, resolved and compiled without a database."""

from typing import Any
from uuid import UUID

from executions.definition.catalog import catalog
from executions.definition.graph.compile import compile_graph
from executions.definition.graph.document import normalise
from executions.definition.graph.model import Graph
from executions.definition.graph.resolve import resolve
from tests.support import modules

WORKFLOW = UUID(int=8)


def graph_of(document: dict[str, Any]) -> Graph:
    """Return the compiled graph of a definition without mistakes."""
    modules.register()
    whole = {"schema": "valkyr/1", "name": "tested", **document}
    return compile_graph(resolve(normalise(whole), catalog()), WORKFLOW)
