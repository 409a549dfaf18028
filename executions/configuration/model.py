"""The sources of settings' values, and the messages about invalid values.

A class of settings is read once and kept until Django's `VALKYR` is another object or `forget` is
called. Unless `tolerate` was called, each use of a class with problems raises an error.
"""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, ClassVar, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo

NAME = "VALKYR"
PREFIX = f"{NAME}_"

Network = IPv4Network | IPv6Network


def _split(value: Any) -> Any:
    """Return a list of words from comma-separated text; return other values unchanged."""
    if isinstance(value, str):
        return [word.strip() for word in value.split(",") if word.strip()]
    return value


def _cells(value: Any) -> Any:
    """Return the names of cells, from text, a list, or a JSON object of names and addresses.

    Raises ValueError for invalid JSON.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return list(json.loads(value))
        except ValueError:
            raise ValueError("a JSON object of names and addresses") from None
    return _split(value)


def _networks(value: Any) -> Any:
    found = _split(value)
    if not isinstance(found, list | tuple):
        return found
    return [_network(one) for one in found]


def _network(one: Any) -> Any:
    try:
        return ip_network(one, strict=False)
    except ValueError:
        raise ValueError(f"addresses or networks such as 10.0.0.0/8, not {one!r}") from None


def _flag(value: Any) -> Any:
    """Return a boolean from text such as `yes`, or from a boolean. Raises ValueError otherwise."""
    if isinstance(value, str):
        value = {"1": True, "true": True, "yes": True, "on": True}.get(
            value.lower(), False if value.lower() in {"0", "false", "no", "off"} else value
        )
    if not isinstance(value, bool):
        raise ValueError("True or False (in the environment: 1 or 0)")  # noqa: TRY004 - pydantic's
    return value


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]
Cells = Annotated[tuple[str, ...], BeforeValidator(_cells)]
Networks = Annotated[tuple[Network, ...], BeforeValidator(_networks)]
Flag = Annotated[bool, BeforeValidator(_flag)]


def setting(
    default: Any,
    meaning: str,
    *,
    unit: str = "",
    unset: str = "",
    variables: tuple[str, ...] = (),
    **bounds: Any,
) -> Any:
    """Declare a setting.

    `unset` is a description of the default, shown in place of its value. `variables` are additional
    environment variables. `bounds` are pydantic constraints: `ge`, `gt`, `le`, `lt`, `min_length`,
    or `pattern`.
    """
    extra: Any = {"unit": unit, "unset": unset, "variables": list(variables)}
    return Field(default=default, description=meaning, json_schema_extra=extra, **bounds)


def about(field: FieldInfo) -> dict[str, Any]:
    """Return the unit, the default in words and the additional variables of a setting."""
    return cast("dict[str, Any]", field.json_schema_extra)


class SettingsModel(BaseModel):
    """The base of settings classes: the field `lease_seconds` is the entry `LEASE_SECONDS`."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    title: ClassVar[str] = ""
    """The heading of these settings in docs/reference; the class docstring follows the heading."""


def said(kind: type[SettingsModel]) -> dict[str, Any]:
    """Return the values that are set in the environment or, otherwise, in Django's `VALKYR`."""
    found: dict[str, Any] = {}
    entries = given()
    for name, field in kind.model_fields.items():
        if variable := variable_of(field, name):
            found[name] = os.environ[variable].strip()
        elif name.upper() in entries:
            found[name] = entries[name.upper()]
    return found


def variables_of(field: FieldInfo, name: str) -> list[str]:
    """Return the environment variables of a setting; the first variable that is set decides."""
    return [f"{PREFIX}{name.upper()}", *about(field)["variables"]]


def variable_of(field: FieldInfo, name: str) -> str | None:
    """Return the environment variable that sets this setting; None if there is none."""
    return next((v for v in variables_of(field, name) if os.environ.get(v, "").strip()), None)


def given() -> Mapping[str, Any]:
    """Return Django's setting `VALKYR`; {} if it is missing or not a dictionary."""
    found = _source()
    return found if isinstance(found, Mapping) else {}


_django: Any = None


def _source() -> Any:
    """Return Django's setting `VALKYR`, unchecked; None if it or Django is not configured.

    Each step calls this several times, so Django's settings object is cached once it is found.
    """
    global _django  # noqa: PLW0603 - one a process
    if _django is not None:
        return getattr(_django, NAME, None)
    if "django.conf" not in sys.modules and not os.environ.get("DJANGO_SETTINGS_MODULE"):
        return None
    from django.conf import settings as django_settings

    if not (django_settings.configured or os.environ.get("DJANGO_SETTINGS_MODULE")):
        return None
    _django = django_settings
    return getattr(django_settings, NAME, None)


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """An invalid setting: the name under which it was set, and the reason."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} {self.reason}"


Settings = TypeVar("Settings", bound=SettingsModel)
_tolerant = False
_read: dict[type[SettingsModel], tuple[Any, SettingsModel]] = {}


def read(kind: type[Settings]) -> Settings:
    """Return the settings of one class.

    Raises ImproperlyConfigured, which names the invalid settings, unless `tolerate` was called.
    """
    source = _source()
    kept = _read.get(kind)
    if kept is None or kept[0] is not source:
        try:
            kept = (source, kind(**said(kind)))
        except ValidationError as error:
            if not _tolerant:
                from django.core.exceptions import ImproperlyConfigured

                raise ImproperlyConfigured("\n".join(map(str, _told(kind, error)))) from None
            wrong = {str(one["loc"][0]) for one in error.errors(include_url=False)}
            kept = (source, kind(**{k: v for k, v in said(kind).items() if k not in wrong}))
        _read[kind] = kept
    return cast("Settings", kept[1])


def tolerate(tolerant: bool) -> None:
    """With `tolerant`, replace invalid settings with their defaults instead of raising an error.

    This is for a process that lists invalid settings.
    """
    global _tolerant  # noqa: PLW0603 - one a process
    _tolerant = tolerant


def forget() -> None:
    """Read the settings again at the next use. Call this after a change to the environment."""
    _read.clear()


def problems(kinds: Iterable[type[SettingsModel]]) -> Iterator[SettingProblem]:
    """Yield a problem for each invalid setting and unknown entry, or for an invalid `VALKYR`."""
    source = {} if _source() is None else _source()
    if not isinstance(source, Mapping):
        yield SettingProblem(NAME, f"is {type(source).__name__}; expected a dictionary.")
        return
    known: set[str] = set()
    for kind in kinds:
        known.update(name.upper() for name in kind.model_fields)
        try:
            kind(**said(kind))
        except ValidationError as error:
            yield from _told(kind, error)
    for entry in source:
        if entry not in known:
            yield SettingProblem(
                f"{NAME}[{entry!r}]", "is not a setting of Valkyr." + _nearest(entry, known)
            )


def _nearest(entry: Any, known: set[str]) -> str:
    from difflib import get_close_matches

    wanted = str(entry).upper().removeprefix(PREFIX)
    near = get_close_matches(wanted, known, n=1, cutoff=0.7)
    return f" Do you mean {near[0]!r}?" if near else " Remove it, or install its plugin."


def _told(kind: type[SettingsModel], error: ValidationError) -> Iterator[SettingProblem]:
    for one in error.errors(include_url=False):
        name = str(one["loc"][0])
        field = kind.model_fields[name]
        variable = variable_of(field, name)
        where = variable or f"{NAME}[{name.upper()!r}]"
        secret = SecretStr in getattr(field.annotation, "__args__", (field.annotation,))
        shown = "not shown, because it is secret" if secret else _shown(said(kind)[name])
        yield SettingProblem(where, f"is {shown}; expected {_expectation(one['msg'])}.")


WORDS = (
    (r"^(Input should be|Value error,) ", ""),
    (r", unable to .*$", ""),
    (r"greater than or equal to (\S+)", r"\1 or more"),
    (r"greater than (\S+)", r"more than \1"),
    (r"less than or equal to (\S+)", r"at most \1"),
    (r"a valid integer", "a whole number"),
    (r"a valid number", "a number"),
    (r"a valid (string|list|tuple)", r"a \1"),
)


def _expectation(message: str) -> str:
    """Return the expected form of a value: pydantic's message in Valkyr's words."""
    for pattern, words in WORDS:
        message = re.sub(pattern, words, message)
    return message.rstrip(".")


def _shown(value: Any) -> str:
    text = str(value)
    if isinstance(value, str):
        value = re.sub(r"//[^/@\s]*@", "//…@", value)  # hide the password of a URL
    return text if re.fullmatch(r"-?[0-9.]{1,30}", text) else repr(value)[:100]
