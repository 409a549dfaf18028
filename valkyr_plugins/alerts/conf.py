"""The settings of alerts, read once, frozen and checked."""

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import ClassVar

from executions.public.configuration import SettingsModel, read, setting


class AlertSettings(SettingsModel):
    """Settings of the plugin `alerts`."""

    title: ClassVar[str] = "Alerts"

    alert_sender: str = setting(
        "Valkyr <valkyr@localhost>",
        "The sender address of emails from [alert rules](../how-to/alerts.md)",
    )
    alert_send_seconds: float = setting(
        10,
        "Timeout of one attempt to send an alert message to Slack or a webhook",
        unit="seconds",
        gt=0,
        le=30,
    )
    alert_retry_seconds: float = setting(
        5,
        "Delay of the first retry of an alert message; the delay triples each time, up to an "
        "hour, and retries end after a day",
        unit="seconds",
        gt=0,
        le=600,
    )
    alert_look_seconds: float = setting(
        15,
        "Time between checks of the alert rules by a duty of beat. At the same interval, each "
        "`control` worker checks that beat is running",
        unit="seconds",
        gt=0,
        le=600,
    )
    alert_kept_days: float = setting(
        30,
        "How long an alert and its messages are kept after the alert has ended",
        unit="days",
        gt=0,
        le=3_650,
    )


@dataclass(frozen=True, slots=True)
class AlertConfig:
    """The checked settings; numbers are seconds unless a name says otherwise."""

    sender: str  # sender of alert emails
    send: float  # time limit of one attempt over HTTP
    look: float  # interval at which a control worker checks whether beat runs
    retry: float  # delay between the first failed attempt and the second
    give_up: float  # age of a queued message at which Valkyr gives it up
    kept_days: float  # retention of closed alerts and sent messages


@lru_cache(maxsize=1)
def config() -> AlertConfig:
    """Return the alerts' configuration, read once from the settings."""
    chosen = read(AlertSettings)
    return AlertConfig(
        sender=chosen.alert_sender,
        send=chosen.alert_send_seconds,
        look=chosen.alert_look_seconds,
        retry=chosen.alert_retry_seconds,
        give_up=86_400,
        kept_days=chosen.alert_kept_days,
    )


def every() -> timedelta:
    """Return the interval at which rules are checked."""
    return timedelta(seconds=read(AlertSettings).alert_look_seconds)
