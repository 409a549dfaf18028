"""The Django app of the plugin `sql_views`."""

from executions.public.plugins import PluginConfig
from valkyr_plugins.sql_views.conf import SqlViewsSettings


class SqlViewsConfig(PluginConfig):
    """Read-only SQL views for BI tools; PostgreSQL limits each role to its workspaces."""

    name = "valkyr_plugins.sql_views"
    label = "valkyr_sql_views"
    verbose_name = "SQL views"
    settings_class = SqlViewsSettings

    def ready(self) -> None:
        """Let signals drop the views before migrations, and create them again afterwards."""
        from valkyr_plugins.sql_views import installing

        installing.connect(self)
