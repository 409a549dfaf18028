"""Declare and read settings."""

from executions.configuration import (
    OWN_QUEUES,
    Flag,
    Networks,
    SettingsModel,
    Words,
    read,
    setting,
    settings,
)
from executions.definition.limits import limits

__all__ = [
    "OWN_QUEUES",
    "Flag",
    "Networks",
    "SettingsModel",
    "Words",
    "limits",
    "read",
    "setting",
    "settings",
]
