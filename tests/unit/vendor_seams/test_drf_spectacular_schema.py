"""Valkyr's OpenAPI document does not depend on a project's SPECTACULAR_SETTINGS."""

from collections.abc import Iterator

import pytest
from drf_spectacular import plumbing
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.settings import spectacular_settings

from executions.api.openapi import api_patterns
from executions.vendor_seams import drf_spectacular_schema as seam
from executions.vendor_seams.drf_spectacular_schema import OwnSchema, own_settings

SEE = "drf-spectacular has changed: see executions/vendor_seams/drf_spectacular_schema.py"


@pytest.fixture
def theirs() -> Iterator[None]:
    """Apply a project's settings, as its settings module does."""
    before = (spectacular_settings.TITLE, spectacular_settings.ENUM_NAME_OVERRIDES)
    spectacular_settings.TITLE = "Host"
    spectacular_settings.ENUM_NAME_OVERRIDES = {"Colour": ["red", "blue"]}
    plumbing._load_enum_name_overrides.cache_clear()
    yield
    spectacular_settings.TITLE, spectacular_settings.ENUM_NAME_OVERRIDES = before
    plumbing._load_enum_name_overrides.cache_clear()


def test_settings_are_ours_meanwhile_and_theirs_again(theirs: None) -> None:
    assert list(plumbing.load_enum_name_overrides().values()) == ["Colour"]

    with own_settings({"ENUM_NAME_OVERRIDES": {"Size": ["small", "large"]}}):
        assert spectacular_settings.TITLE == "", SEE
        assert list(plumbing.load_enum_name_overrides().values()) == ["Size"], SEE

    assert spectacular_settings.TITLE == "Host", SEE
    assert list(plumbing.load_enum_name_overrides().values()) == ["Colour"], SEE


def test_settings_are_theirs_again_after_a_mistake(theirs: None) -> None:
    with pytest.raises(ZeroDivisionError), own_settings({"TITLE": "Ours"}):
        raise ZeroDivisionError

    assert spectacular_settings.TITLE == "Host"


def test_our_views_are_in_our_document_alone() -> None:
    theirs = SchemaGenerator(patterns=api_patterns()).get_schema(public=True)
    with own_settings({}):
        ours = SchemaGenerator(patterns=api_patterns()).get_schema(public=True)

    assert theirs["paths"] == {}
    assert "/v1/Workflow" in ours["paths"]


def test_what_is_overridden_and_cleared_is_there() -> None:
    assert OwnSchema._get_format_parameters is not AutoSchema._get_format_parameters
    assert all(hasattr(getattr(plumbing, name), "cache_clear") for name in seam._CACHES), SEE
