"""How many remote runners may wait for work."""

from functools import lru_cache

from executions.public.configuration import environment as env


@lru_cache(maxsize=1)
def waiters() -> int:
    """How many remote runners one process lets wait at once; read at first use."""
    return env.integer("VALKYR_REMOTE_WAITERS", 32)
