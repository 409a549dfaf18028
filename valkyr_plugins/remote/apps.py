"""The Django app of the plugin `remote`."""

from executions.public.plugins import PluginConfig
from valkyr_plugins.remote.conf import RemoteSettings


class RemoteConfig(PluginConfig):
    """Remote steps: external programs lease the runs over HTTP and report the results."""

    name = "valkyr_plugins.remote"
    label = "valkyr_remote"
    verbose_name = "Remote runners"
    settings_class = RemoteSettings
    modules = {"remote.step": "valkyr_plugins.remote.step:RemoteStep"}
    api = "valkyr_plugins.remote.urls"
