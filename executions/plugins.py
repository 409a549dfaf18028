"""Plugins: Django apps that extend the engine, which does not depend on them.

A plugin's `apps.py` holds a subclass of `PluginConfig` that declares what it adds:

    class ShopConfig(PluginConfig):
        name = "shop_plugin"
        modules = {"shop.discount": "shop_plugin.discount:Discount"}
        api = "shop_plugin.urls"

To install the plugin, add its name to `INSTALLED_APPS`. Django and Celery find the rest as for any
app: models and migrations, `admin.py`, `tasks.py`, management commands, checks and receivers.
"""

from collections.abc import Callable, Mapping, MutableMapping
from datetime import timedelta
from typing import Any, ClassVar, TypedDict

from django.apps import AppConfig, apps

from executions.configuration import SettingsModel
from executions.configuration.labels import refuse_conflict
from executions.language import lazy, name_models


class PeriodicTask(TypedDict):
    """A task that beat sends periodically.

    Its message expires after the interval (at most 1 h) plus 10 minutes.
    """

    task: str
    every: timedelta | Callable[[], timedelta]


class ApiConfig(AppConfig):
    """An app that can add operations to the API: one of the engine's three apps, or a plugin."""

    # The type in Valkyr's migrations, regardless of the project's DEFAULT_AUTO_FIELD.
    default_auto_field = "django.db.models.BigAutoField"

    # Django uses the only class in `apps.py` without `default = False`, which must not be this base
    # class.
    default = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.default = cls.__dict__.get("default", True)

    def __init__(self, app_name: str, app_module: Any) -> None:
        super().__init__(app_name, app_module)
        refuse_conflict(app_name, self.label)
        self.verbose_name = lazy(str(self.verbose_name))

    def import_models(self) -> None:
        """Load the models, and mark their names for translation where they are displayed."""
        super().import_models()
        name_models(self.models.values())

    api: ClassVar[str] = ""
    """The Python module whose `urlpatterns` are added to the engine's API; "" for none."""

    api_enums: ClassVar[Mapping[str, Any]] = {}
    """The location or the values of each enumeration, by its name in the OpenAPI document."""


class PluginConfig(ApiConfig):
    """A plugin's app, which declares what the plugin adds.

    The plugin's `apps.py` must be cheap to import, because every process imports it at its start.
    """

    default = False

    modules: ClassVar[Mapping[str, str]] = {}
    """The location of each module type (`package.file:Class`); it is imported at its first use."""

    needs: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """The package that a module type imports, and the extra of `valkyr` that installs it.

    If the package is missing, the list of modules says what to install.
    """

    pages: ClassVar[str] = ""
    """The Python module whose `urlpatterns` are added outside the API; "" for none."""

    asgi: ClassVar[str] = ""
    """The function that wraps the platform's ASGI application; "" for none."""

    api_tags: ClassVar[Mapping[str, str]] = {}
    """The tags of the plugin's operations in the OpenAPI document, with descriptions."""

    schedule: ClassVar[Mapping[str, PeriodicTask]] = {}
    """The tasks that beat sends, by a name that states their purpose."""

    settings_class: ClassVar[type[SettingsModel] | None] = None
    """The class of the plugin's settings in `VALKYR`; None if it has no settings."""

    @classmethod
    def configure(cls, settings: MutableMapping[str, Any]) -> None:
        """Change Django's settings for a plugin that needs more than an entry in INSTALLED_APPS.

        It is called at the end of the settings module, before any app is loaded.
        """


def apps_with_api() -> list[ApiConfig]:
    """Return the installed apps that can add operations to the API, in their installed order."""
    return [config for config in apps.get_app_configs() if isinstance(config, ApiConfig)]


def plugins() -> list[PluginConfig]:
    """Return the installed plugins, in the order of `INSTALLED_APPS`."""
    return [config for config in apps.get_app_configs() if isinstance(config, PluginConfig)]
