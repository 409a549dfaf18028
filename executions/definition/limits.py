"""The limits of definitions, from the settings."""

from functools import lru_cache

from executions.configuration import settings as valkyr_settings
from executions.definition.graph.model import DEFAULTS, Limits


@lru_cache(maxsize=1)
def limits() -> Limits:
    """Return this installation's limits on definitions.

    Raises ImproperlyConfigured, which names the invalid setting.
    """
    chosen = valkyr_settings()
    return Limits(
        loop_limit_condition=chosen.loop_limit_condition,
        loop_limit_default=chosen.loop_limit_default
        or min(chosen.loop_limit_condition, DEFAULTS.loop_limit_default),
        checkpoint_enabled=chosen.checkpoint_enabled,
        checkpoint_every_steps=chosen.checkpoint_interval_nodes,
        checkpoint_keep=chosen.checkpoint_max_checkpoints,
        thread_queues=DEFAULTS.thread_queues | set(chosen.thread_queues),
        remote_queues=frozenset(chosen.remote_queues),
    )
