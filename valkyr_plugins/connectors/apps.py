"""The Django app of the plugin `connectors`."""

from typing import Any

from executions.public.plugins import PluginConfig
from valkyr_plugins.connectors.conf import ConnectorSettings
from valkyr_plugins.connectors.types import NEEDS, TYPES


class ConnectorsConfig(PluginConfig):
    """Modules that call other systems and transform data."""

    name = "valkyr_plugins.connectors"
    label = "valkyr_connectors"
    verbose_name = "Connectors"
    modules = TYPES
    needs = NEEDS
    settings_class = ConnectorSettings

    def ready(self) -> None:
        """Register the check, and let each worker log the sandbox of its steps."""
        from celery.signals import celeryd_after_setup

        from valkyr_plugins.connectors import checks  # noqa: F401 - registers on import

        # This signal comes after logging is set up and before the pool's processes are forked.
        celeryd_after_setup.connect(_announce, weak=False, dispatch_uid=f"{self.name}.sandbox")


def _announce(**_: Any) -> None:
    from valkyr_plugins.connectors.code.sandbox import announce

    announce()
