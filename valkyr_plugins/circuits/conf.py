"""What the settings say of circuit breakers, read once, frozen and checked."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from django.core.exceptions import ImproperlyConfigured

from executions.public.configuration import environment as env
from runners.public.targets import BASE, TargetLimits


@dataclass(frozen=True, slots=True)
class CircuitConfig:
    """`base` holds for targets of which no rule says anything; `wait` is in seconds."""

    enabled: bool
    base: TargetLimits
    wait: float  # how long a step may be held back before it is given up


@lru_cache(maxsize=1)
def config() -> CircuitConfig:
    """The configuration; raises ImproperlyConfigured for numbers that make no breaker."""
    return CircuitConfig(
        enabled=env.flag("CIRCUIT_BREAKER_ENABLED", True),
        base=TargetLimits(
            failures=int(_some(env.integer, "DEFAULT_FAILURE_THRESHOLD", BASE.failures)),
            window=_some(env.number, "DEFAULT_FAILURE_WINDOW", BASE.window),
            recovery=_some(env.number, "DEFAULT_RECOVERY_TIMEOUT", BASE.recovery),
        ),
        wait=_some(env.number, "VALKYR_CIRCUIT_WAIT_SECONDS", 3_600),
    )


def _some(read: Callable[[str, int], float], name: str, default: float) -> float:
    value = read(name, int(default))
    if value > 0:
        return value
    raise ImproperlyConfigured(
        f"{name} is {value:g}; expected more than 0. To do without circuit breakers, set "
        "CIRCUIT_BREAKER_ENABLED=0."
    )
