"""The limits of definitions, read from the environment."""

from functools import lru_cache

from django.core.exceptions import ImproperlyConfigured

from executions import environment as env
from executions.definition.graph.model import DEFAULTS, Limits
from executions.definition.graph.schema_parts import MAX_CHECKPOINT_STEPS, MAX_CHECKPOINTS

MAX_ITERATIONS = 1_000_000
# Served by our own workers; the index of all other queues' runs leaves them out by name.
OWN_QUEUES = frozenset({"control", "default", "io"})


@lru_cache(maxsize=1)
def limits() -> Limits:
    """The limits of this installation; raises ImproperlyConfigured, naming the variable."""
    most = _within("LOOP_LIMIT_CONDITION", DEFAULTS.loop_limit_condition, MAX_ITERATIONS)
    return Limits(
        loop_limit_condition=most,
        loop_limit_default=_within(
            "LOOP_LIMIT_DEFAULT", min(most, DEFAULTS.loop_limit_default), most
        ),
        checkpoint_enabled=env.flag("CHECKPOINT_ENABLED", DEFAULTS.checkpoint_enabled),
        checkpoint_every_steps=_within(
            "CHECKPOINT_INTERVAL_NODES", DEFAULTS.checkpoint_every_steps, MAX_CHECKPOINT_STEPS
        ),
        checkpoint_keep=_within(
            "CHECKPOINT_MAX_CHECKPOINTS", DEFAULTS.checkpoint_keep, MAX_CHECKPOINTS
        ),
        thread_queues=DEFAULTS.thread_queues | set(env.words("VALKYR_THREAD_QUEUES")),
        remote_queues=_remote_queues(),
    )


def _remote_queues() -> frozenset[str]:
    names = frozenset(env.words("VALKYR_REMOTE_QUEUES"))
    if own := sorted(names & OWN_QUEUES):
        raise ImproperlyConfigured(
            f"VALKYR_REMOTE_QUEUES names {', '.join(own)}, which our own workers serve; expected "
            "other names."
        )
    return names


def _within(name: str, default: int, most: int) -> int:
    value = env.integer(name, default)
    if not 1 <= value <= most:
        raise ImproperlyConfigured(f"{name} is {value}; expected 1 to {most:,}.")
    return value
