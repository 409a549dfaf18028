"""Generate Valkyr's OpenAPI document with drf-spectacular, separately from the project's document.

Relies on: `drf_spectacular.settings.spectacular_settings`, one object per process, whose values are
set and restored here as by the object's own `apply_patches`; the caches of
`drf_spectacular.plumbing` for values computed from them; `AutoSchema._get_format_parameters`
(drf-spectacular 0.28 to 0.30).
No public way: `custom_settings` of its views starts from the project's SPECTACULAR_SETTINGS instead
of the defaults, and keeps the caches.
If it breaks: `/v1/schema` depends on the project's settings, or the project's document on Valkyr's.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

from drf_spectacular import plumbing
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.settings import IMPORT_STRINGS, SPECTACULAR_DEFAULTS, spectacular_settings
from rest_framework.settings import perform_import

_one_at_a_time = Lock()
_ours: ContextVar[bool] = ContextVar("our OpenAPI document is made", default=False)
_CACHES = ("_load_enum_name_overrides", "get_lib_doc_excludes", "get_openapi_type_mapping")
# Settings that are read when the package is imported, not when a document is generated.
_OF_VIEWS = ("SERVE_", "DEFAULT_GENERATOR_CLASS")


class OwnSchema(AutoSchema):
    """Describes a view in Valkyr's document, and leaves it out of the project's document."""

    def is_excluded(self) -> bool:
        """Return whether the document being made is not Valkyr's."""
        return not _ours.get()

    def _get_format_parameters(self) -> list[Any]:
        """Return an empty list: Valkyr's views negotiate by `Accept` only."""
        return []


@contextmanager
def own_settings(wanted: Mapping[str, Any]) -> Iterator[None]:
    """Apply `wanted` in the block, and drf-spectacular's defaults for the rest, to make a document.

    During the block, the settings apply to the whole process, so make the document once and keep
    it.
    """
    changes = {
        name: perform_import(value, name) if name in IMPORT_STRINGS else value
        for name, value in (SPECTACULAR_DEFAULTS | dict(wanted)).items()
        if not name.startswith(_OF_VIEWS)
    }
    with _one_at_a_time:
        before = {name: getattr(spectacular_settings, name) for name in changes}
        token = _ours.set(True)
        try:
            _set(changes)
            yield
        finally:
            _set(before)
            _ours.reset(token)


def _set(values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(spectacular_settings, name, value)
    for name in _CACHES:
        getattr(plumbing, name).cache_clear()
