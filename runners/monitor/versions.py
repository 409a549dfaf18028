"""The drawings of versions, kept by id: a version never changes, so neither does its drawing."""

from functools import lru_cache
from uuid import UUID

from executions.definition.versions import compiled
from runners.monitor.drawing import Drawing, draw

KEPT = 64


@lru_cache(maxsize=KEPT)
def drawing_of(version_id: UUID) -> Drawing:
    """The version's graph, drawn; raises NotFound."""
    return draw(compiled(version_id).graph)
