"""Set up, check and remove second factors: the only writer of their rows, each time audited."""

from dataclasses import dataclass
from math import ceil
from typing import Any
from uuid import UUID

from django.db.models import F

from executions.public.access import Actor, record
from executions.public.accounts import Rate, count, of_sign_in
from executions.public.database import ClockTimestamp, database_now, transaction
from executions.public.errors import NotFound, Taken, ValkyrError
from executions.public.sealing import (
    KeyUnknown,
    SealedColumn,
    place_of,
    register,
    seal,
    sealing,
    unseal,
)
from valkyr_plugins.mfa import codes
from valkyr_plugins.mfa.models import RecoveryCode, SecondFactor

register(SealedColumn(SecondFactor))

# Three of a million codes are right at any time.
CODES_A_MINUTE = 5


class CodeRefused(ValkyrError):
    """The code is wrong, was used before, or has expired. Enter the code that the app shows now."""

    code = "second_factor_wrong"


class TooManyCodes(ValkyrError):
    """There were too many attempts. Wait a minute."""

    code = "second_factor_throttled"


class FactorExists(Taken):
    """This account has a second factor already. Remove it first to set up another one."""


class NoFactor(NotFound):
    """This account has no second factor."""


@dataclass(frozen=True, slots=True)
class Enrolled:
    """A confirmed factor, and its recovery codes, which are never shown again."""

    factor: SecondFactor
    recovery_codes: list[str]


def confirmed(user: Any) -> SecondFactor | None:
    """Return the account's factor, without its secret, or None."""
    rows = SecondFactor.objects.filter(user=user.pk, confirmed_at__isnull=False)
    return rows.defer("sealed").first()


def begun(user: Any) -> SecondFactor | None:
    """Return the account's unconfirmed set-up, or None."""
    return SecondFactor.objects.filter(user=user.pk, confirmed_at=None).first()


def begin(user: Any) -> SecondFactor:
    """Create a secret for the account, replacing an unconfirmed one.

    Of two concurrent ones the later counts. Raises FactorExists, and SealingError without an
    installation key.
    """
    sealing.prepare()
    with transaction.atomic():
        SecondFactor.objects.get_or_create(user_id=user.pk, defaults={"sealed": b"", "key_id": 0})
        factor = _locked(user)
        if factor.confirmed_at is not None:
            raise FactorExists
        closed = seal(codes.new_secret().encode(), place_of(factor))
        factor.sealed, factor.key_id = closed.value, closed.key_id
        factor.save(update_fields=["sealed", "key_id"])
    return factor


def secret_of(factor: SecondFactor) -> str:
    """Return the app's secret; raises SealingError."""
    try:
        return unseal(factor.sealed, place_of(factor)).decode()
    except KeyUnknown:
        # Another process resealed it since it was read, and the previous key is gone.
        factor.refresh_from_db(fields=["sealed", "key_id"])
        return unseal(factor.sealed, place_of(factor)).decode()


def confirm(user: Any, text: str, actor: Actor) -> Enrolled:
    """Confirm the set-up with a code of the app.

    Raises NoFactor, CodeRefused and TooManyCodes.
    """
    _count(user, actor)
    with transaction.atomic():
        factor = _locked(user, confirmed_at=None)
        if not _accept_one_time(factor, codes.normal(text)):
            raise CodeRefused
        SecondFactor.objects.filter(pk=factor.pk).update(confirmed_at=ClockTimestamp())
        made = _new_codes(factor)
        _audit(actor, "second_factor.enrol", factor)
    return Enrolled(factor, made)


def check(user: Any, text: str, actor: Actor) -> SecondFactor:
    """Accept a code of the app or a recovery code, once; return the factor.

    Raises NoFactor, CodeRefused and TooManyCodes. A refusal is audited, too.
    """
    _count(user, actor)
    code = codes.normal(text)
    with transaction.atomic():
        factor = _locked(user, confirmed_at__isnull=False)
        kind = "one-time code" if codes.is_one_time_code(code) else "recovery code"
        if kind == "one-time code":
            _require_patience(factor)
        accepted = _accept(factor, code)
        if not accepted:
            _note_failure(factor)
        action = "account.second_factor" if accepted else "account.second_factor_failed"
        _audit(actor, action, factor, details={"kind": kind})
    if not accepted:
        raise CodeRefused
    return factor


def renew_codes(user: Any, actor: Actor) -> Enrolled:
    """Replace the account's recovery codes by ten new ones; raises NoFactor."""
    with transaction.atomic():
        factor = _locked(user, confirmed_at__isnull=False)
        made = _new_codes(factor)
        _audit(actor, "second_factor.renew_codes", factor)
    return Enrolled(factor, made)


def remove(user: Any, actor: Actor) -> None:
    """Remove the account's factor for its owner; raises NoFactor."""
    with transaction.atomic():
        factor = _locked(user, confirmed_at__isnull=False)
        _audit(actor, "second_factor.remove", factor)
        factor.delete()


def reset(factor_id: UUID, actor: Actor, reason: str) -> None:
    """Remove the factor of a user who lost the app and the codes; raises NoFactor."""
    with transaction.atomic():
        rows = SecondFactor.objects.select_for_update(of=("self",)).select_related("user")
        factor = rows.filter(pk=factor_id).first()
        if factor is None:
            raise NoFactor
        _audit(actor, "second_factor.reset", factor, reason=reason)
        factor.delete()


def _count(user: Any, actor: Actor) -> None:
    rates = [
        *of_sign_in(actor.address or "", None),
        Rate("codes for this account", str(user.pk), CODES_A_MINUTE, strict=True),
    ]
    excess = count(rates)
    if excess is not None:
        raise TooManyCodes(str(excess))


def _locked(user: Any, **which: Any) -> SecondFactor:
    rows = SecondFactor.objects.select_for_update(of=("self",)).select_related("user")
    factor = rows.filter(user=user.pk, **which).first()
    if factor is None:
        raise NoFactor
    return factor


def _accept(factor: SecondFactor, code: str) -> bool:
    if codes.is_one_time_code(code):
        return _accept_one_time(factor, code)
    unused = RecoveryCode.objects.filter(factor=factor, digest=codes.digest(code), used_at=None)
    return bool(unused.update(used_at=ClockTimestamp())) and _note_use(factor)


def _accept_one_time(factor: SecondFactor, code: str) -> bool:
    now = database_now().timestamp()
    step = codes.matching_step(secret_of(factor), code, now, after=factor.last_step)
    return step is not None and _note_use(factor, last_step=step)


def _note_use(factor: SecondFactor, **values: Any) -> bool:
    rows = SecondFactor.objects.filter(pk=factor.pk)
    return bool(rows.update(last_used_at=ClockTimestamp(), failures=0, **values))


def _note_failure(factor: SecondFactor) -> None:
    rows = SecondFactor.objects.filter(pk=factor.pk)
    rows.update(failures=F("failures") + 1, failed_at=ClockTimestamp())


def _require_patience(factor: SecondFactor) -> None:
    """Raise TooManyCodes after too many wrong codes in a row; recovery codes always count."""
    if factor.failed_at is None:
        return
    passed = (database_now() - factor.failed_at).total_seconds()
    left = codes.wait_after(factor.failures) - passed
    if left > 0:
        raise TooManyCodes(
            f"{factor.failures} codes in a row were wrong. Wait {ceil(left / 60)} min, or use a "
            "recovery code."
        )


def _new_codes(factor: SecondFactor) -> list[str]:
    made = codes.new_recovery_codes()
    RecoveryCode.objects.filter(factor=factor).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(factor=factor, digest=digest) for digest in codes.digests(made)
    )
    return made


def _audit(actor: Actor, action: str, factor: SecondFactor, **more: Any) -> None:
    details = {"user": factor.user.get_username(), **more.pop("details", {})}
    record(
        actor,
        action,
        workspace_id=None,
        object_type="SecondFactor",
        object_id=factor.pk,
        details=details,
        **more,
    )
