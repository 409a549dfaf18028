"""Unfold as its documentation describes, and nothing more."""

# ruff: noqa: F405 - the other project's settings are taken whole
from tests.projects.people.settings import *  # noqa: F403

INSTALLED_APPS = ["unfold", "unfold.contrib.filters", *INSTALLED_APPS]

UNFOLD: dict[str, object] = {}
