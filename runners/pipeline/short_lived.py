"""Fetch the short-lived values of a step's credentials from the servers that issue them.

    issue(who, step, stored) -> (opened, short_lived)
    forget_rejected(short_lived, error) -> bool  # after a receiver rejected the values

The workspace's egress rules apply. A thread holds no pooled connection during a request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from executions import credentials
from executions.credentials import (
    KINDS,
    CredentialSource,
    CredentialType,
    Issued,
    OpenedCredential,
    UsingStep,
    rotating,
)
from executions.credentials.issuing import Issuer
from executions.database import connection
from executions.egress.workspace_rules import rules_of
from runners.conf import pool
from runners.modules.base import StepError
from runners.modules.egress import ruled_by
from runners.secrets.scrubbing import Scrubber
from runners.states import ErrorType

UNAUTHORIZED = 401
EXPIRED_KEYS = ("ExpiredToken", "InvalidAccessKeyId", "InvalidToken")  # error codes of S3
# SQLSTATEs of PostgreSQL for a wrong password and an unknown role.
NOT_SIGNED_IN = ("28P01", "28000")


class SecretNotIssued(StepError):
    """A step gets no short-lived values of a credential; the error's type determines any retry."""


@dataclass(frozen=True, slots=True, repr=False)
class ShortLived:
    """Values issued for a credential, the credential as stored, and whether the values are new."""

    source: CredentialSource
    values: Issued
    is_new: bool


def issue(
    who: str, step: UsingStep, stored: Mapping[str, OpenedCredential]
) -> tuple[Mapping[str, OpenedCredential], list[ShortLived]]:
    """Return the credentials with issued values in place of stored fields, and the issued values.

    Error messages begin with `who`. Raises SecretNotIssued if a server issues no values.
    """
    kinds = {name: KINDS[one.type] for name, one in stored.items() if _is_issued(one)}
    if not kinds:
        return stored, []
    rules = rules_of(step.workspace_id)
    _release()
    opened, found = dict(stored), list[ShortLived]()
    for name, kind in kinds.items():
        one = stored[name]
        source = CredentialSource(one.id, name, one.version, step.workspace_id, one.fields)
        with ruled_by(lambda: rules):
            short_lived = _ask(who, source, kind)
        opened[name] = replace(one, fields=short_lived.values.fields)
        found.append(short_lived)
    return opened, found


def refuse_remote(who: str, opened: Mapping[str, OpenedCredential]) -> None:
    """Raise SecretNotIssued if a credential has short-lived values.

    A later process could not remove such values from a remote runner's report.
    """
    for name, one in opened.items():
        if _is_issued(one):
            raise SecretNotIssued(
                f'{who}: the credential "{name}" has short-lived values, which remote runners do '
                "not get. Let the runner fetch its own, or run the step on a worker."
            )


def forget_rejected(found: Sequence[ShortLived], error: BaseException) -> bool:
    """Forget values that a receiver rejected; return whether new values can help."""
    old = [one for one in found if not one.is_new]
    if not old or not _rejects(error):
        return False
    for one in old:
        credentials.forget(one.source, one.values)
    return True


def _is_issued(one: OpenedCredential) -> bool:
    return one.type in KINDS and KINDS[one.type].issuer is not None


def _release() -> None:
    """Close the connection of a pool's thread, because a request to a server does not need it."""
    if pool() == "threads" and not connection.in_atomic_block:
        connection.close()


def _issuer(kind: CredentialType, fields: Mapping[str, str]) -> Issuer:
    assert kind.issuer is not None
    if kind.rotates is None or not kind.rotates(fields):
        return kind.issuer
    issuer = kind.issuer
    return lambda source, before: rotating.issue(source, before, issuer, _release)


def _ask(who: str, source: CredentialSource, kind: CredentialType) -> ShortLived:
    what = f'{who}: the values of the credential "{source.name}" could not be fetched'
    try:
        return ShortLived(source, *credentials.issued(source, _issuer(kind, source.fields)))
    except credentials.IssuerBusy:
        raise SecretNotIssued(
            f"{what}: another step of this process still waits for them. The step is tried again.",
            ErrorType.TRANSIENT,
        ) from None
    except StepError as error:
        secret = [text for name, text in source.fields.items() if name not in kind.known]
        scrub = Scrubber(dict.fromkeys(secret, f"[secret:{source.name}]"))
        raise SecretNotIssued(
            f"{what}: {scrub.message(error.message)}",
            error.error_type,
            retry_after=error.retry_after,
        ) from None


def _rejects(error: BaseException) -> bool:
    """Return whether a server answered that it does not accept the credential."""
    details = getattr(error, "details", None)
    told = details if isinstance(details, Mapping) else {}
    if told.get("status") == UNAUTHORIZED or told.get("code") in EXPIRED_KEYS:
        return True
    cause: BaseException | None = error
    while cause is not None:
        of_library = getattr(cause, "orig", None)
        if NOT_SIGNED_IN.count(getattr(of_library or cause, "sqlstate", None)):
            return True
        cause = cause.__cause__
    return False
