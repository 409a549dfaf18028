"""What makes no sense in the settings is refused: at the start, and by `manage.py check`."""

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

from executions import messaging
from executions.configuration import EngineSettings, SettingsModel, forget, problems, tolerate
from executions.plugins import plugins
from executions.sealing import installation_key

Check = Callable[..., list[CheckMessage]]
CALL = (
    "Call valkyr.configure_celery(app) where the project makes its Celery app, and import that "
    "module in the project's __init__.py, so that web processes send by it too."
)
REFERENCE = "Mend it where it is set; docs/configuration.md lists every setting."


def classes() -> list[type[SettingsModel]]:
    """The engine's settings, and those of the installed plugins."""
    found = (plugin.settings_class for plugin in plugins())
    return [EngineSettings, *(one for one in found if one is not None)]


def refuse() -> None:
    """Raise ImproperlyConfigured for what makes no sense; `manage.py check` lists it instead."""
    forget()
    if sys.argv[1:2] == ["check"]:
        tolerate(True)
    elif found := [*map(str, problems(classes())), *_keys()]:
        raise ImproperlyConfigured("\n".join(found))


def with_settings(check: Check) -> Check:
    """A check that reads settings: it is silent where `settings` names what is wrong."""

    @wraps(check)
    def checked(**given: Any) -> list[CheckMessage]:
        try:
            return check(**given)
        except ImproperlyConfigured:
            if [*problems(classes())]:
                return []
            raise

    return checked


@register()
def settings(**_: Any) -> list[CheckMessage]:
    """Each setting has a value that makes sense, and each entry of `VALKYR` is a setting."""
    found: list[CheckMessage] = [
        Error(str(problem), hint=REFERENCE, id="valkyr.E001") for problem in problems(classes())
    ]
    return found or [Error(text, id="valkyr.E002") for text in _keys()]


@register()
def celery(**_: Any) -> list[CheckMessage]:
    """A Celery app carries our tasks."""
    if messaging.configured_app() is not None:
        return []
    return [Error("No Celery app carries Valkyr's tasks.", hint=CALL, id="valkyr.E010")]


def _keys() -> Iterator[str]:
    """What is wrong with the keys that seal secrets."""
    try:
        installation_key.present()
        installation_key.old()
    except ImproperlyConfigured as error:
        yield str(error)
