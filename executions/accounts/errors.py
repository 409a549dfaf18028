"""Errors of accounts."""

from executions.errors import ValkyrError


class Taken(ValkyrError):
    """Another one has that name already."""

    code = "taken"


class InUse(ValkyrError):
    """Something still needs it."""

    code = "in_use"


class LastAdministrator(ValkyrError):
    """A workspace keeps at least one active person with the role ADMIN; appoint another first."""

    code = "last_administrator"


class TokenRefused(ValkyrError):
    """This token does not let anybody in."""

    code = "token_unknown"

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code
