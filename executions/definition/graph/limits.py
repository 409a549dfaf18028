"""The installation's numbers that a definition is checked against and filled in from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What the settings allow and give where a definition says nothing; names are the settings'."""

    loop_limit_condition: int = 1_000  # most iterations a `while` or `until` loop may ask for
    loop_limit_default: int = 1_000  # how many it gets unless it asks
    checkpoint_enabled: bool = True
    checkpoint_every_steps: int = 5
    checkpoint_keep: int = 10
    thread_queues: frozenset[str] = frozenset({"io"})  # their workers are threads of one process
    remote_queues: frozenset[str] = frozenset()  # worked by programs of others, over HTTP


DEFAULTS = Limits()
