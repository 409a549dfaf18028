"""Labels of Valkyr's apps; a project can change a label that another of its apps also has.

    class Runs(RunnersConfig):
        label = "valkyr_runners"

The names of tables, permissions and admin pages begin with the label. Code and migrations name our
apps by their packages, and look up the label here.
"""

from functools import cache

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

ENGINE = ("executions", "runners", "dlq")


def label(package: str) -> str:
    """Return the app label of one of the engine's packages; return other names unchanged."""
    return _labels().get(package, package) if package in ENGINE else package


def translated(name: str) -> str:
    """Return a name such as `executions_workflow_change` with the label in place of the package."""
    package = name.replace(".", "_").partition("_")[0]
    return label(package) + name.removeprefix(package)


@cache
def _labels() -> dict[str, str]:
    return {config.name: config.label for config in apps.get_app_configs()}


def refuse_conflict(package: str, own: str) -> None:
    """Raise ImproperlyConfigured if another installed app has the label `own`.

    Django also rejects two apps with one label once it has loaded both, but does not say what to
    do.
    """
    if other := _namesake(package, own):
        config = f"{package}.apps.{package.capitalize()}Config"
        raise ImproperlyConfigured(
            f"The apps {other!r} and {package!r} (Valkyr's) both have the label {own!r}; "
            "expected one app for each label. Give Valkyr's app another label: in the "
            f"project's apps.py, write\n    class Ours({config}):\n        label = "
            f'"valkyr_{own}"\nand in INSTALLED_APPS, put its dotted path in place of '
            f"{package!r}. Do this before the first `migrate`, because the label is part of "
            "the tables' names."
        )


def _namesake(package: str, own: str) -> str:
    loaded = [config.name for config in apps.app_configs.values() if config.label == own]
    named = [name for name in settings.INSTALLED_APPS if name.rpartition(".")[2] == own]
    return next((name for name in loaded + named if name != package), "")
