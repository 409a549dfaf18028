"""The app `runners`."""

from executions.definition.catalog import Catalog
from executions.plugins import ApiConfig


class RunnersConfig(ApiConfig):
    """The app of runs, leases, modules and the sweeper."""

    name = "runners"
    verbose_name = "Runs"
    api = "runners.api.urls"
    api_enums = {
        "RunState": "runners.api.run_shapes.STATES",
        "ErrorType": "runners.api.run_shapes.ERROR_TYPES",
        "WaitKind": "runners.api.run_shapes.WAITS",
        "Decision": "runners.waits.approvals.DECISIONS",
    }

    def ready(self) -> None:
        """Declare plugins' modules; register the catalog, checks, receivers and partitions."""
        from executions.definition import catalog
        from executions.plugins import plugins
        from runners import checks, receivers  # noqa: F401 - connect on import
        from runners.modules.declared import declare
        from runners.partitions import naming
        from runners.workers import health  # noqa: F401 - connects on import

        for plugin in plugins():
            declare(plugin.name, plugin.modules, plugin.needs)
        catalog.register(_modules)
        naming.connect()


def _modules() -> Catalog:
    from runners.modules import registry

    return registry.specs()
