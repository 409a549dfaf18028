"""What a row of the audit trail is about: from the name in `object_type` to the model and back."""

from functools import cache

from django.apps import apps
from django.db.models import Model


def name_of(model: type[Model]) -> str:
    """The name under which the trail knows rows of a model: the API's, else the class's."""
    return str(getattr(model, "AUDITED_AS", model.__name__))


def model_of(name: str) -> type[Model] | None:
    """The model of that name; None for a name that no model has (any more)."""
    return _models().get(name)


@cache
def _models() -> dict[str, type[Model]]:
    return {name_of(model): model for model in apps.get_models()}
