"""The fixtures of API users, for the conftests of plugins: `from … import *`."""

from tests.contract.conftest import (
    _no_collected_files,
    _nobody_asked_before,
    _quick_passwords,
    author,
    client_of,
    elsewhere,
    greeting,
    member,
    stranger,
    workspace,
)

__all__ = [
    "_no_collected_files",
    "_nobody_asked_before",
    "_quick_passwords",
    "author",
    "client_of",
    "elsewhere",
    "greeting",
    "member",
    "stranger",
    "workspace",
]
