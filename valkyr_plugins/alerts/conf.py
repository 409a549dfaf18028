"""The numbers of alerts, read once, frozen and checked."""

from dataclasses import dataclass
from functools import lru_cache

from django.core.exceptions import ImproperlyConfigured

from executions.public.configuration import environment as env


@dataclass(frozen=True, slots=True)
class AlertConfig:
    """Seconds, unless a name says otherwise."""

    sender: str  # whom our mails come from
    send: float  # how long one attempt over HTTP may take
    look: float  # how often a control worker looks whether beat ticks
    retry: float  # how long after the first failed attempt comes the second
    give_up: float  # how long after it was queued a message is given up
    kept_days: float  # how long alerts that are over, and what was sent, are kept


@lru_cache(maxsize=1)
def config() -> AlertConfig:
    """The configuration; raises ImproperlyConfigured, naming the variable."""
    return AlertConfig(
        sender=env.text("VALKYR_ALERT_SENDER", "Valkyr <valkyr@localhost>"),
        send=_within("VALKYR_ALERT_SEND_SECONDS", 10, 30),
        look=look_seconds(),
        retry=_within("VALKYR_ALERT_RETRY_SECONDS", 5, 600),
        give_up=86_400,
        kept_days=_within("VALKYR_ALERT_KEPT_DAYS", 30, 3_650),
    )


def look_seconds() -> float:
    """How often rules are looked after."""
    return _within("VALKYR_ALERT_LOOK_SECONDS", 15, 600)


def _within(name: str, default: float, most: float) -> float:
    value = env.number(name, default)
    if not 0 < value <= most:
        raise ImproperlyConfigured(f"{name} is {value:g}; expected more than 0, at most {most:g}.")
    return value
