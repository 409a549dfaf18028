"""Text in the user's language: lazy strings for code that runs at import, and names of models.

The API, logs, commands and migrations are in English. Inside a function, use Django's `gettext`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from django.db.models import Model


def lazy(text: str) -> str:
    """Return `text` translated to the reader's language each time it is shown.

    The result is a Django lazy string: it acts as a `str`, except for `isinstance` and `str.join`.
    """
    return cast("str", gettext_lazy(text))


def name_models(models: Iterable[type["Model"]]) -> None:
    """Translate the names of models and of their fields where they are shown.

    Migrations see the names as the models define them, so no language changes a migration.
    """
    for model in models:
        options = model._meta
        options.verbose_name = lazy(str(options.verbose_name))
        options.verbose_name_plural = lazy(str(options.verbose_name_plural))
        for field in (*options.local_fields, *options.local_many_to_many):
            if isinstance(field.verbose_name, str):
                field.verbose_name = lazy(field.verbose_name)
