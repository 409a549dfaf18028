"""Why a credential could not be written; no message shows a value."""

from executions.errors import ValkyrError, WithProblems


class InvalidCredential(WithProblems):
    """The credential cannot be kept as it is given."""

    code = "invalid_credential"


class NameTaken(ValkyrError):
    """Another credential of the workspace has this name; choose another."""

    code = "name_taken"


class CredentialInUse(WithProblems):
    """Published workflows name the credential."""

    code = "credential_in_use"
