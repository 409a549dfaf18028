"""People as the project's own model of accounts has them: any key, any field that names them.

What an API or a form calls `username` is what the model's `USERNAME_FIELD` holds, such as an email
address. Nothing but this field, the key and `is_active` is taken for granted.
"""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import FieldDoesNotExist, ValidationError

LONGEST_NAME = 254  # an email address


def person_named(name: str | None) -> Any | None:
    """The account that signs in with this name; None where there is none."""
    if not name:
        return None
    model = get_user_model()
    return model._default_manager.filter(**{model.USERNAME_FIELD: name}).first()


def name_path(path: str = "user") -> str:
    """The look-up from a row to the name of the account that `path` leads to."""
    return f"{path}__{get_user_model().USERNAME_FIELD}"


def key_field() -> Any:
    """The field that is an account's key: of a model that inherits from another, the other's."""
    key: Any = get_user_model()._meta.pk
    while key.remote_field:
        key = key.target_field
    return key


def read_key(value: Any) -> Any:
    """A key of an account, from JSON, a token or an address; raises ValueError."""
    key = key_field()
    try:
        return key.clean(value, None)
    except ValidationError as error:
        raise ValueError(f"{value!r} is no key of an account: {error}") from None


def key_as_json(value: Any) -> int | str | None:
    """A key of an account as JSON has it: a number stays one, anything else is text."""
    return value if value is None or isinstance(value, int) else str(value)


def has_column(name: str) -> bool:
    """Whether accounts have a column of this name, such as `is_staff`."""
    try:
        return bool(get_user_model()._meta.get_field(name).concrete)
    except FieldDoesNotExist:
        return False
