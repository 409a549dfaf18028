"""Errors of accounts, tokens, members and workspaces."""

from executions.errors import ValkyrError


class Taken(ValkyrError):
    """The name is in use. Choose another name."""

    code = "taken"


class InUse(ValkyrError):
    """The object is still in use. First remove the objects that use it."""

    code = "in_use"


class LastAdministrator(ValkyrError):
    """A workspace needs an active person with the role ADMIN. Appoint another ADMIN first."""

    code = "last_administrator"


class TokenRefused(ValkyrError):
    """The API token is not valid. Create a new token."""

    code = "token_unknown"

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code
