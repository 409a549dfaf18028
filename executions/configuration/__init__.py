"""The settings of Valkyr: typed, checked, each with a default.

`settings().lease_seconds` is the environment's `VALKYR_LEASE_SECONDS`, else the entry
`LEASE_SECONDS` of Django's setting `VALKYR`, else the default. A plugin declares a class of its own
(`PluginConfig.settings_class`) and asks `read(ItsSettings)`.
"""

from executions.configuration.engine import EngineSettings
from executions.configuration.model import (
    Flag,
    Network,
    Networks,
    SettingsModel,
    Words,
    forget,
    problems,
    read,
    setting,
    tolerate,
)
from executions.configuration.running import OWN_QUEUES

__all__ = [
    "OWN_QUEUES",
    "EngineSettings",
    "Flag",
    "Network",
    "Networks",
    "SettingsModel",
    "Words",
    "forget",
    "problems",
    "read",
    "setting",
    "settings",
    "tolerate",
]


def settings() -> EngineSettings:
    """The engine's settings; raises ImproperlyConfigured, which names what is wrong."""
    return read(EngineSettings)
