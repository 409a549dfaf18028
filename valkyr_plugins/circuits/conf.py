"""The settings of circuit breakers, read once, frozen and checked."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from executions.public.configuration import Flag, SettingsModel, read, setting
from runners.public.targets import BASE, TargetLimits


class CircuitSettings(SettingsModel):
    """Settings of the plugin `circuits`."""

    title: ClassVar[str] = "Circuit breakers"

    circuit_breaker_enabled: Flag = setting(
        True,
        "Whether failing targets open a [circuit](../explanation/gates.md#circuits); if "
        "off, every call is made",
        variables=("CIRCUIT_BREAKER_ENABLED",),
    )
    default_failure_threshold: int = setting(
        BASE.failures,
        "Number of failures within the window at which a target's circuit opens, if at least half "
        "of the calls in the window failed. Circuit rules in the admin and built-in rules, such as "
        "the one for `llm:*`, take precedence",
        variables=("DEFAULT_FAILURE_THRESHOLD",),
        gt=0,
    )
    default_failure_window: float = setting(
        BASE.window,
        "Length of the window in which failures are counted",
        unit="seconds",
        variables=("DEFAULT_FAILURE_WINDOW",),
        gt=0,
    )
    default_recovery_timeout: float = setting(
        BASE.recovery,
        "How long a circuit stays open before one step probes the target",
        unit="seconds",
        variables=("DEFAULT_RECOVERY_TIMEOUT",),
        gt=0,
    )
    circuit_wait_seconds: float = setting(
        3_600,
        "Default maximum time that a step is held by an open circuit (`circuitWaitSeconds`)",
        unit="seconds",
        gt=0,
    )


@dataclass(frozen=True, slots=True)
class CircuitConfig:
    """The checked settings: `base` applies to targets without a rule; `wait` is in seconds."""

    enabled: bool
    base: TargetLimits
    wait: float  # maximum time that an open circuit holds a step


@lru_cache(maxsize=1)
def config() -> CircuitConfig:
    """Return the circuits' configuration, read once from the settings."""
    chosen = read(CircuitSettings)
    return CircuitConfig(
        enabled=chosen.circuit_breaker_enabled,
        base=TargetLimits(
            failures=chosen.default_failure_threshold,
            window=chosen.default_failure_window,
            recovery=chosen.default_recovery_timeout,
        ),
        wait=chosen.circuit_wait_seconds,
    )
