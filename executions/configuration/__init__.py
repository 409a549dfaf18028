"""The settings of Valkyr. Each setting has a type and a default, and its value is checked.

`settings().lease_seconds` is the value of the environment variable `VALKYR_LEASE_SECONDS` or, if
that is not set, of the entry `LEASE_SECONDS` of Django's setting `VALKYR`; otherwise, the default.
A plugin declares its own class (`PluginConfig.settings_class`) and calls `read(ItsSettings)`.
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
    """Return the engine's settings.

    Raises ImproperlyConfigured, which names the invalid settings.
    """
    return read(EngineSettings)
