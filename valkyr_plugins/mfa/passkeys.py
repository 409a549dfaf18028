"""Add, accept and remove passkeys, with an audit entry. `factors.reset` also deletes their rows.

The session stores the state of one ceremony (a registration or a sign-in) for ten minutes.
"""

from ipaddress import ip_address
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from executions.public.access import Actor
from executions.public.accounts import count, of_sign_in
from executions.public.database import ClockTimestamp, database_now, transaction
from executions.public.errors import Taken, ValkyrError
from valkyr_plugins.mfa import factors
from valkyr_plugins.mfa.factors import Enrolled, NoFactor, TooManyCodes
from valkyr_plugins.mfa.models import Passkey
from valkyr_plugins.mfa.webauthn import BadAnswer, Ceremony, KnownKey, is_installed

MOST = 20  # maximum passkeys of one account
LONGEST_SECONDS = 600
# The key in Django's session.
STATE = "valkyr_passkey"


class PasskeyRefused(ValkyrError):
    """The passkey was not accepted. Try again, or use another factor."""


class TooManyPasskeys(Taken):
    """This account has 20 passkeys, which is the maximum. Remove one first."""


def ceremony(request: Any) -> Ceremony | None:
    """Return the ceremony at the request's host; None if passkeys are not possible there.

    Browsers require a host name, and HTTPS unless it is `localhost`. The library `fido2` must be
    installed.
    """
    host = request.get_host()
    site = host if host.startswith("[") else host.partition(":")[0]
    possible = (request.is_secure() or site == "localhost") and not _is_address(site)
    if not possible or not is_installed():
        return None
    return Ceremony(site.lower(), f"{request.scheme}://{host}")


def passkeys_of(user: Any) -> list[Passkey]:
    """Return the account's passkeys, the oldest first."""
    return list(Passkey.objects.filter(user=user.pk).order_by("pk"))


def offer(request: Any, user: Any) -> dict[str, Any] | None:
    """Begin to add a passkey: return the browser's options; None if passkeys are not possible."""
    at = ceremony(request)
    if at is None:
        return None
    options, state = at.options_to_register(user, _known(user, at.site))
    return _kept(request, "add", options, state)


def add(request: Any, user: Any, name: str, text: str, actor: Actor) -> Enrolled:
    """Store the passkey that a device made, with recovery codes if it is the first factor.

    Raises PasskeyRefused or TooManyPasskeys.
    """
    at = ceremony(request)
    state = _taken(request, "add")
    if at is None or state is None:
        raise PasskeyRefused
    try:
        made = at.registered(state, text)
    except BadAnswer as error:
        raise PasskeyRefused from error
    try:
        with transaction.atomic():
            if Passkey.objects.filter(user=user.pk).count() >= MOST:
                raise TooManyPasskeys
            codes = factors.first_codes(user)
            row = Passkey(
                user=user,
                name=name,
                site=at.site,
                credential_id=made.credential_id,
                credential=made.credential,
                transports=made.transports,
                uses=made.uses,
                created_at=database_now(),
            )
            row.save(force_insert=True)
            factors.audit(actor, "second_factor.enrol", row, details=_about(row))
    except IntegrityError as error:
        raise PasskeyRefused from error
    return Enrolled(row.pk, codes)


def offer_sign_in(request: Any, user: Any) -> dict[str, Any] | None:
    """Begin a sign-in with a passkey: return the browser's options.

    Return None if passkeys are not possible, or if the account has none for this host.
    """
    at = ceremony(request)
    known = [] if at is None else _known(user, at.site)
    if at is None or not known:
        return None
    options, state = at.options_to_sign_in(known)
    return _kept(request, "sign in", options, state)


def check(request: Any, user: Any, text: str, actor: Actor) -> UUID:
    """Accept a passkey's signature; return the passkey's ID.

    Raises NoFactor, PasskeyRefused and TooManyCodes. Rejected signatures are also audited.
    """
    excess = count(of_sign_in(actor.address or "", None))
    if excess is not None:
        raise TooManyCodes(str(excess))
    at = ceremony(request)
    state = _taken(request, "sign in")
    with transaction.atomic():
        rows = _locked(user, at)
        if not rows:
            raise NoFactor
        row = None if at is None or state is None else _signed(at, state, rows, text)
        action = "account.second_factor" if row else "account.second_factor_failed"
        factors.audit(actor, action, row or rows[0], details={"kind": "passkey"})
    if row is None:
        raise PasskeyRefused
    return row.pk


def remove(user: Any, passkey_id: UUID, actor: Actor) -> None:
    """Remove a passkey of the account. Raises NoFactor."""
    with transaction.atomic():
        rows = Passkey.objects.select_for_update(of=("self",)).select_related("user")
        row = rows.filter(user=user.pk, pk=passkey_id).first()
        if row is None:
            raise NoFactor
        factors.audit(actor, "second_factor.remove", row, details=_about(row))
        row.delete()
        factors.forget_codes(user)


def _signed(at: Ceremony, state: dict[str, Any], rows: list[Passkey], text: str) -> Passkey | None:
    """Return the passkey that signed, with its use recorded; None for a wrong answer.

    A signature is also rejected if its count did not grow, unless both counts are 0.
    """
    try:
        found, uses = at.signed_in(state, map(_key, rows), text)
    except BadAnswer:
        return None
    row = next(one for one in rows if bytes(one.credential_id) == found)
    if (uses or row.uses) and uses <= row.uses:
        return None
    Passkey.objects.filter(pk=row.pk).update(uses=uses, last_used_at=ClockTimestamp())
    return row


def _locked(user: Any, at: Ceremony | None) -> list[Passkey]:
    rows = Passkey.objects.select_for_update(of=("self",)).select_related("user")
    site = "" if at is None else at.site
    return list(rows.filter(user=user.pk, site=site).order_by("pk"))


def _known(user: Any, site: str) -> list[KnownKey]:
    return [_key(row) for row in passkeys_of(user) if row.site == site]


def _key(row: Passkey) -> KnownKey:
    return KnownKey(bytes(row.credential), tuple(row.transports))


def _about(row: Passkey) -> dict[str, Any]:
    return {"kind": "passkey", "name": row.name}


def _kept(
    request: Any, purpose: str, options: dict[str, Any], state: dict[str, Any]
) -> dict[str, Any]:
    at = database_now().timestamp()
    request.session[STATE] = {"purpose": purpose, "at": at, "state": state}
    return options


def _taken(request: Any, purpose: str) -> dict[str, Any] | None:
    """Remove the session's ceremony; return its state, or None if it expired or does not match."""
    kept = request.session.pop(STATE, None)
    if not isinstance(kept, dict) or kept.get("purpose") != purpose:
        return None
    if not 0 <= database_now().timestamp() - kept["at"] < LONGEST_SECONDS:
        return None
    found: dict[str, Any] = kept["state"]
    return found


def _is_address(site: str) -> bool:
    try:
        ip_address(site.strip("[]"))
    except ValueError:
        return False
    return True
