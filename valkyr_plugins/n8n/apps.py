"""The Django app of the plugin `n8n`."""

from executions.public.plugins import PluginConfig


class N8nConfig(PluginConfig):
    """The import of workflows from n8n, through the API and `manage.py import_n8n`."""

    name = "valkyr_plugins.n8n"
    label = "valkyr_n8n"
    verbose_name = "n8n import"
    api = "valkyr_plugins.n8n.urls"
    modules = {
        "n8n.placeholder": "valkyr_plugins.n8n.placeholder:Placeholder",
    }
