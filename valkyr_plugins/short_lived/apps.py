"""The Django app of the plugin `short_lived`."""

from executions.public.plugins import PluginConfig
from valkyr_plugins.short_lived.conf import ShortLivedSettings


class ShortLivedConfig(PluginConfig):
    """Credentials whose values Vault, OAuth 2.0 servers or AWS STS issue on demand."""

    name = "valkyr_plugins.short_lived"
    label = "valkyr_short_lived"
    verbose_name = "Short-lived credentials"
    settings_class = ShortLivedSettings
    pages = "valkyr_plugins.short_lived.urls"

    def ready(self) -> None:
        """Register the types of credentials."""
        from valkyr_plugins.short_lived.types import register_types

        register_types()
