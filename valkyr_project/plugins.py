"""The plugins of the stand-alone platform: all of them, unless a setting names a selection."""

from collections.abc import Iterator, MutableMapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured

from executions import environment as env

if TYPE_CHECKING:
    from executions.plugins import PluginConfig

PLUGINS = (
    "connectors",
    "alerts",
    "archive",
    "backtest",
    "canary",
    "canvas",
    "circuits",
    "figures",
    "limits",
    "mcp",
    "mfa",
    "n8n",
    "pydantic_agents",
    "python_workflows",
    "redrive",
    "remote",
    "short_lived",
    "sql_views",
    "sso",
    "task_backend",
    "telemetry",
    "timetravel",
    "version_migration",
)
NONE = "none"
# Plugins, and the plugin that each of them needs.
NEEDS = {"alerts": "connectors", "short_lived": "connectors"}


def chosen() -> list[str]:
    """Return the names in `VALKYR_PLUGINS`: by default all names, and none for `none`.

    Raises ImproperlyConfigured for an unknown name, or if a plugin or a setting needs a missing
    plugin.
    """
    names = env.words("VALKYR_PLUGINS", PLUGINS)
    if names == [NONE]:
        names = []
    if unknown := sorted(set(names) - set(PLUGINS)):
        raise ImproperlyConfigured(
            f"VALKYR_PLUGINS names {unknown[0]!r}, which is not a plugin; expected {NONE!r} or "
            f"some of {', '.join(PLUGINS)}."
        )
    for name in names:
        if (needed := NEEDS.get(name, name)) not in names:
            raise ImproperlyConfigured(
                f"VALKYR_PLUGINS names {name!r}, which needs {needed!r}: add it, or remove both."
            )
    if "sso" not in names and env.flag("VALKYR_OIDC_ONLY", False):
        raise ImproperlyConfigured(
            "VALKYR_OIDC_ONLY is 1 but VALKYR_PLUGINS lacks 'sso', so passwords would be "
            "accepted. Add it, or set VALKYR_OIDC_ONLY=0."
        )
    if "mfa" not in names and env.flag("VALKYR_MFA_REQUIRED", False):
        raise ImproperlyConfigured(
            "VALKYR_MFA_REQUIRED is 1 but VALKYR_PLUGINS lacks 'mfa', so passwords alone "
            "would be accepted. Add it, or set VALKYR_MFA_REQUIRED=0."
        )
    if "remote" not in names and env.words("VALKYR_REMOTE_QUEUES"):
        raise ImproperlyConfigured(
            "VALKYR_REMOTE_QUEUES names queues but VALKYR_PLUGINS lacks 'remote', so no "
            "runner could lease their runs. Add it, or unset VALKYR_REMOTE_QUEUES."
        )
    return names


def installed_apps() -> list[str]:
    """Return the chosen plugins' entries for `INSTALLED_APPS`."""
    return [f"valkyr_plugins.{name}" for name in chosen()]


def configure(settings: MutableMapping[str, Any]) -> None:
    """Let the chosen plugins change Django's settings."""
    for config in _configs():
        config.configure(settings)


@cache
def _configs() -> tuple[type["PluginConfig"], ...]:
    return tuple(_config(app) for app in installed_apps())


def _config(app: str) -> type["PluginConfig"]:
    # Imported here, because a stack's supervisor only needs the names, and so stays small.
    from executions.plugins import PluginConfig

    def declared() -> Iterator[type[PluginConfig]]:
        for found in vars(import_module(f"{app}.apps")).values():
            if isinstance(found, type) and issubclass(found, PluginConfig) and found.default:
                yield found

    return next(declared())
