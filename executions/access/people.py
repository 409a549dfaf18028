"""Users of the project's own account model, with any key and any username field.

The `username` of an API or a form is the model's `USERNAME_FIELD`, such as an email address. Valkyr
requires only this field, the key and `is_active`.
"""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import FieldDoesNotExist, ValidationError

LONGEST_NAME = 254  # characters, as in an email address


def person_named(name: str | None) -> Any | None:
    """Return the account that signs in with this name; None if there is none."""
    if not name:
        return None
    model = get_user_model()
    return model._default_manager.filter(**{model.USERNAME_FIELD: name}).first()


def name_path(path: str = "user") -> str:
    """Return the lookup from a row to the username of the account at `path`."""
    return f"{path}__{get_user_model().USERNAME_FIELD}"


def key_field() -> Any:
    """Return the field that is an account's key; for an inherited model, the parent's key."""
    key: Any = get_user_model()._meta.pk
    while key.remote_field:
        key = key.target_field
    return key


def read_key(value: Any) -> Any:
    """Return an account's key, read from JSON, a token or a URL. Raises ValueError if invalid."""
    key = key_field()
    try:
        return key.clean(value, None)
    except ValidationError as error:
        raise ValueError(f"{value!r} is not the key of an account: {error}") from None


def key_as_json(value: Any) -> int | str | None:
    """Return an account's key for JSON: a number or None unchanged, and any other key as text."""
    return value if value is None or isinstance(value, int) else str(value)


def has_column(name: str) -> bool:
    """Return whether the account model has this column, such as `is_staff`."""
    try:
        return bool(get_user_model()._meta.get_field(name).concrete)
    except FieldDoesNotExist:
        return False
