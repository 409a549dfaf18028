"""Fixtures of users of the API over HTTP, as in the tests of the engine's API."""

from tests.contract.conftest import (
    _no_collected_files,
    _nobody_asked_before,
    _quick_passwords,
    admin,
    author,
    client_of,
    elsewhere,
    greeting,
    member,
    stranger,
    tier,
    workspace,
)

__all__ = [
    "_no_collected_files",
    "_nobody_asked_before",
    "_quick_passwords",
    "admin",
    "author",
    "client_of",
    "elsewhere",
    "greeting",
    "member",
    "stranger",
    "tier",
    "workspace",
]
