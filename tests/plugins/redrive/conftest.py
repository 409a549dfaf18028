"""Fixtures of users of the API over HTTP, as in the tests of the engine's API."""

from tests.support.api_users import *  # noqa: F403
