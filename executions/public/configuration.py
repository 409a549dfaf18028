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
from executions.configuration.own_servers import addresses as own_addresses
from executions.definition.limits import limits

__all__ = [
    "OWN_QUEUES",
    "Flag",
    "Networks",
    "SettingsModel",
    "Words",
    "limits",
    "own_addresses",
    "read",
    "setting",
    "settings",
]
