"""The address of a waiting step: signed, so that nobody makes one up, and known before it waits.

It names the execution and the step, no more, and is the same whenever it is asked for: a retry
sends the outside the same address. Whoever has it may answer once.
"""

from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer

_SALT = "valkyr.callback"
# Signs with what stands before the last of these; a token is made of letters, digits, - and _.
_SEPARATOR = "."


def url_of(execution_id: UUID, step_path: str) -> str:
    """Where the outside lets a step go on, on the installation's public address."""
    token = _signer().sign_object([execution_id.hex, step_path])
    return f"{settings.PUBLIC_URL}/v1/callbacks/{token}"


def read(token: str) -> tuple[UUID, str] | None:
    """The execution and step path of a token; None for one that we did not make."""
    try:
        execution, path = _signer().unsign_object(token)
    except (BadSignature, ValueError):
        return None
    return UUID(hex=execution), path


def _signer() -> Signer:
    return Signer(salt=_SALT, sep=_SEPARATOR)
