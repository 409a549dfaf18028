"""Facts that a process otherwise reads again every 1 s or 5 s stay unchanged in a block."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import pytest

from executions.egress import workspace_rules
from runners.partitions import naming
from valkyr_plugins.circuits import memory
from valkyr_plugins.limits import known_limits


@contextmanager
def facts_are_kept() -> Iterator[None]:
    """Keep circuits, limits, egress rules and partitions after they are read once.

    Otherwise the cost of a step or a start depends on whether a second has passed since the last
    read.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "FRESH_SECONDS", inf)
        patch.setattr(known_limits, "SECONDS", inf)
        patch.setattr(workspace_rules, "KEPT_SECONDS", inf)
        patch.setattr(naming, "KEPT_SECONDS", inf)
        known_limits.forget()
        naming.forget()
        try:
            yield
        finally:
            known_limits.forget()
            naming.forget()
