"""A lease as its holder knows it: the run's token, signed together with the run.

The number alone is the fence; the signature keeps one runner from guessing another's.
"""

from uuid import UUID

from django.core.signing import BadSignature, Signer

_SALT = "valkyr.lease"


def token_of(run_id: UUID, number: int) -> str:
    """What the holder of a lease shows with everything it reports."""
    return _signer().sign_object([run_id.hex, number])


def number_of(run_id: UUID, token: str) -> int | None:
    """The fencing number in a token; None for one that is not ours, or of another run."""
    try:
        run, number = _signer().unsign_object(token)
    except (BadSignature, ValueError, TypeError):
        return None
    return int(number) if run == run_id.hex else None


def _signer() -> Signer:
    return Signer(salt=_SALT, sep=".")
