"""The plugin `connectors`."""

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
