"""Set up, check and remove second factors and recovery codes, with an audit entry.

Only this module and `passkeys` write these rows.
"""

from dataclasses import dataclass
from math import ceil
from typing import Any
from uuid import UUID

from django.db.models import F

from executions.public.access import Actor, record
from executions.public.accounts import Rate, count, end_others, of_sign_in
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
from valkyr_plugins.mfa.models import Passkey, RecoveryCode, SecondFactor

register(SealedColumn(SecondFactor))

# At any time, three of a million codes are valid.
CODES_A_MINUTE = 5


class CodeRefused(ValkyrError):
    """The code is wrong, was used before, or has expired. Enter the code that the app shows now."""

    code = "second_factor_wrong"


class TooManyCodes(ValkyrError):
    """There were too many attempts. Wait a minute."""

    code = "second_factor_throttled"


class FactorExists(Taken):
    """This account already has an authenticator app. Remove it first to set up another one."""


class NoFactor(NotFound):
    """This account has no second factor."""


@dataclass(frozen=True, slots=True)
class Enrolled:
    """The ID of a factor, and new recovery codes, if any, which are shown only once."""

    factor_id: UUID
    recovery_codes: list[str]


def ids_of(user: Any) -> frozenset[UUID]:
    """Return the IDs of the account's confirmed app and its passkeys. Uses one query."""
    apps = SecondFactor.objects.filter(user=user.pk, confirmed_at__isnull=False)
    passkeys = Passkey.objects.filter(user=user.pk).order_by().values_list("pk")
    return frozenset(pk for (pk,) in apps.order_by().values_list("pk").union(passkeys))


def confirmed(user: Any) -> SecondFactor | None:
    """Return the account's confirmed app, without its secret; None if there is none."""
    rows = SecondFactor.objects.filter(user=user.pk, confirmed_at__isnull=False)
    return rows.defer("sealed").first()


def begun(user: Any) -> SecondFactor | None:
    """Return the account's unconfirmed app; None if there is none."""
    return SecondFactor.objects.filter(user=user.pk, confirmed_at=None).first()


def begin(user: Any) -> SecondFactor:
    """Create a secret for the account, replacing an unconfirmed one.

    If two secrets are created concurrently, the later one replaces the earlier one. Raises
    FactorExists, and SealingError if there is no installation key.
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
    """Return the app's secret. Raises SealingError."""
    try:
        return unseal(factor.sealed, place_of(factor)).decode()
    except KeyUnknown:
        # Another process resealed it since it was read, and the previous key is gone.
        factor.refresh_from_db(fields=["sealed", "key_id"])
        return unseal(factor.sealed, place_of(factor)).decode()


def confirm(user: Any, text: str, actor: Actor) -> Enrolled:
    """Confirm the set-up with a code from the app.

    Raises NoFactor, CodeRefused and TooManyCodes.
    """
    _count(user, actor)
    with transaction.atomic():
        factor = _locked(user, confirmed_at=None)
        if not _accept_one_time(factor, codes.normal(text)):
            raise CodeRefused
        made = first_codes(user)
        SecondFactor.objects.filter(pk=factor.pk).update(confirmed_at=ClockTimestamp())
        audit(actor, "second_factor.enrol", factor)
    return Enrolled(factor.pk, made)


def check(user: Any, text: str, actor: Actor) -> UUID:
    """Accept an app's code or a recovery code, each only once; return the ID of a factor.

    It is the app's ID, or a passkey's if the account has no app. Raises NoFactor, CodeRefused and
    TooManyCodes. Wrong codes are also audited.
    """
    _count(user, actor)
    code = codes.normal(text)
    with transaction.atomic():
        app = _locked_app(user)
        row: Any = app or Passkey.objects.filter(user=user.pk).order_by("pk").first()
        if row is None:
            raise NoFactor
        kind = "one-time code" if codes.is_one_time_code(code) else "recovery code"
        if kind == "one-time code" and app is not None:
            _require_patience(app)
        accepted = _accept(user, app, code)
        if app is not None:
            (_note_use if accepted else _note_failure)(app)
        action = "account.second_factor" if accepted else "account.second_factor_failed"
        audit(actor, action, row, details={"kind": kind})
    if not accepted:
        raise CodeRefused
    found: UUID = row.pk
    return found


def renew_codes(user: Any, actor: Actor) -> Enrolled:
    """Replace the account's recovery codes with ten new ones. Raises NoFactor."""
    with transaction.atomic():
        row: Any = _locked_app(user) or Passkey.objects.filter(user=user.pk).first()
        if row is None:
            raise NoFactor
        made = _new_codes(user)
        audit(actor, "second_factor.renew_codes", row)
    return Enrolled(row.pk, made)


def first_codes(user: Any) -> list[str]:
    """Return ten new recovery codes if the account has no factor yet; otherwise []."""
    return [] if ids_of(user) else _new_codes(user)


def codes_left(user: Any) -> int:
    """Return the number of unused recovery codes."""
    return RecoveryCode.objects.filter(user=user.pk, used_at=None).count()


def remove(user: Any, actor: Actor) -> None:
    """Remove the user's app, and the recovery codes if no factor is left. Raises NoFactor."""
    with transaction.atomic():
        factor = _locked(user, confirmed_at__isnull=False)
        audit(actor, "second_factor.remove", factor)
        factor.delete()
        forget_codes(user)


def forget_codes(user: Any) -> None:
    """Delete the account's recovery codes if the account no longer has a factor."""
    if not ids_of(user):
        RecoveryCode.objects.filter(user=user.pk).delete()


def reset(user: Any, actor: Actor, reason: str) -> None:
    """Remove all factors and codes of a user who lost the factors; end the user's sessions.

    Raises NoFactor.
    """
    with transaction.atomic():
        app = _locked_app(user)
        passkeys = list(Passkey.objects.select_for_update().filter(user=user.pk))
        row: Any = app or next(iter(passkeys), None)
        if row is None:
            raise NoFactor
        removed = {"app": app is not None, "passkeys": len(passkeys)}
        audit(actor, "second_factor.reset", row, reason=reason, before=removed)
        SecondFactor.objects.filter(user=user.pk).delete()
        Passkey.objects.filter(user=user.pk).delete()
        RecoveryCode.objects.filter(user=user.pk).delete()
        end_others(user, None, actor=actor)


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


def _locked_app(user: Any) -> SecondFactor | None:
    rows = SecondFactor.objects.select_for_update(of=("self",)).select_related("user")
    return rows.filter(user=user.pk, confirmed_at__isnull=False).first()


def _accept(user: Any, app: SecondFactor | None, code: str) -> bool:
    if codes.is_one_time_code(code):
        return app is not None and _accept_one_time(app, code)
    unused = RecoveryCode.objects.filter(user=user.pk, digest=codes.digest(code), used_at=None)
    return bool(unused.update(used_at=ClockTimestamp()))


def _accept_one_time(factor: SecondFactor, code: str) -> bool:
    now = database_now().timestamp()
    step = codes.matching_step(secret_of(factor), code, now, after=factor.last_step)
    return step is not None and _note_use(factor, last_step=step)


def _note_use(factor: SecondFactor, **values: Any) -> bool:
    rows = SecondFactor.objects.filter(pk=factor.pk)
    return bool(rows.update(last_used_at=ClockTimestamp(), failures=0, **values))


def _note_failure(factor: SecondFactor) -> bool:
    rows = SecondFactor.objects.filter(pk=factor.pk)
    return bool(rows.update(failures=F("failures") + 1, failed_at=ClockTimestamp()))


def _require_patience(factor: SecondFactor) -> None:
    """Raise TooManyCodes after too many wrong codes in a row; recovery codes remain usable."""
    if factor.failed_at is None:
        return
    passed = (database_now() - factor.failed_at).total_seconds()
    left = codes.wait_after(factor.failures) - passed
    if left > 0:
        raise TooManyCodes(
            f"{factor.failures} codes in a row were wrong. Wait {ceil(left / 60)} min, or use a "
            "recovery code."
        )


def _new_codes(user: Any) -> list[str]:
    made = codes.new_recovery_codes()
    RecoveryCode.objects.filter(user=user.pk).delete()
    RecoveryCode.objects.bulk_create(
        RecoveryCode(user_id=user.pk, digest=digest) for digest in codes.digests(made)
    )
    return made


def audit(actor: Actor, action: str, row: SecondFactor | Passkey, **more: Any) -> None:
    """Record a change or use of a user's factor in the audit trail."""
    details = {"user": row.user.get_username(), **more.pop("details", {})}
    record(
        actor,
        action,
        workspace_id=None,
        object_type=row.AUDITED_AS,
        object_id=row.pk,
        details=details,
        **more,
    )
