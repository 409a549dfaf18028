"""Fixtures of users of the API over HTTP, as in the tests of the engine's API."""

from tests.contract.conftest import (
    _no_collected_files,
    _nobody_asked_before,
    _quick_passwords,
    author,
    elsewhere,
    greeting,
    workspace,
)

__all__ = [
    "_no_collected_files",
    "_nobody_asked_before",
    "_quick_passwords",
    "author",
    "elsewhere",
    "greeting",
    "workspace",
]
