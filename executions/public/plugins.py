"""Declare a plugin."""

from executions.plugins import PeriodicTask, PluginConfig, plugins

__all__ = [
    "PeriodicTask",
    "PluginConfig",
    "plugins",
]
