"""The local account for a user of the provider: known, linked, created, or none.

Only (issuer, subject) identifies a user. Only VALKYR_OIDC_LINK_BY_EMAIL links accounts by address:
a user who can choose the address at the provider could take over an account.
"""

import hashlib
import logging
from collections.abc import Mapping
from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import get_user_model
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError

from executions.public.access import Actor, record
from executions.public.accounts import follow, shut_out
from executions.public.database import transaction
from valkyr_plugins.sso.configuration import SingleSignOn, groups_in, roles_for
from valkyr_plugins.sso.responses import Refused

log = logging.getLogger(__name__)


def admit(claims: Mapping[str, Any], sso: SingleSignOn, request: Any) -> Any:
    """Return the user who signs in; memberships follow the provider's groups. Raises Refused.

    If two first sign-ins of a user are concurrent, only one creates the account. If a rejected user
    has an account, another transaction ends the user's sessions and revokes the user's tokens. The
    request provides the origin for the audit trail.
    """
    try:
        try:
            return _admit(claims, sso, request)
        except IntegrityError:
            return _admit(claims, sso, request)
    except Refused as error:
        user = _known(claims, sso)
        if user is not None:
            why = f"the sign-in through the identity provider was refused: {error}"
            shut_out(user, actor=_actor(user, request), reason=why)
        raise


@transaction.atomic
def _admit(claims: Mapping[str, Any], sso: SingleSignOn, request: Any) -> Any:
    email = verified_email(claims)
    _require_domain(email, sso)
    user = (
        _known(claims, sso)
        or _linked(claims, email, sso, request)
        or _made(claims, email, sso, request)
    )
    user = get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
    if not user.is_active:
        raise Refused("Your account is disabled. Ask an administrator to enable it.")
    groups = groups_in(claims, sso.groups_claim)
    unknown = follow(
        user,
        roles_for(groups, sso.groups),
        sso.issuer,
        actor=_actor(user, request),
        reason="the groups that the identity provider named at sign-in",
    )
    for slug in sorted(unknown):
        log.warning("VALKYR_OIDC_ROLES names the workspace %r, but there is none to join.", slug)
    return user


def verified_email(claims: Mapping[str, Any]) -> str:
    """Return the address that the provider has verified; "" if there is none."""
    email = claims.get("email")
    # Some providers send texts, and the text "false" would be truthy.
    if not isinstance(email, str) or claims.get("email_verified") not in (True, "true"):
        return ""
    try:
        validate_email(email)
    except ValidationError:
        return ""
    return email


def link(user: Any, subject: str, issuer: str, actor: Actor) -> None:
    """Let the person `subject` at the issuer sign in as `user` from now on.

    Raises IntegrityError if that person already has an account.
    """
    SocialAccount.objects.create(user=user, provider=issuer, uid=subject)
    record(
        actor,
        "user.link",
        workspace_id=None,
        object_type="User",
        object_id=user.pk,
        after={"issuer": issuer, "subject": subject},
    )


def _actor(user: Any, request: Any) -> Actor:
    return Actor.at_door(request, user.pk, user.get_username())


def _require_domain(email: str, sso: SingleSignOn) -> None:
    if not sso.domains or email.rpartition("@")[2].lower() in sso.domains:
        return
    raise Refused(
        f"Only people with a verified address at {' or '.join(sso.domains)} can sign in here, "
        "but your provider sent none."
    )


def _known(claims: Mapping[str, Any], sso: SingleSignOn) -> Any:
    account = (
        SocialAccount.objects.select_related("user")
        .filter(provider=sso.issuer, uid=claims["sub"])
        .first()
    )
    return account.user if account else None


def _linked(claims: Mapping[str, Any], email: str, sso: SingleSignOn, request: Any) -> Any:
    """Link and return the local account with that address; None unless exactly one may be linked.

    A superuser's account is never linked: an address must not make a user a superuser.
    """
    if not sso.link_by_email or not email:
        return None
    found = list(
        get_user_model().objects.filter(
            email__iexact=email, is_superuser=False, valkyr_service_account=None, socialaccount=None
        )[:2]
    )
    if len(found) != 1:
        return None
    link(found[0], claims["sub"], sso.issuer, _actor(found[0], request))
    return found[0]


def _made(claims: Mapping[str, Any], email: str, sso: SingleSignOn, request: Any) -> Any:
    if not sso.create_users:
        raise Refused(
            "You have no account here yet. Ask an administrator to run `manage.py "
            f"link_sign_in <user name> {claims['sub'][:200]}`."
        )
    user = get_user_model().objects.create_user(
        _free_name(claims, sso.issuer),
        email=email,
        first_name=_text(claims, "given_name"),
        last_name=_text(claims, "family_name"),
    )
    SocialAccount.objects.create(user=user, provider=sso.issuer, uid=claims["sub"])
    record(
        _actor(user, request),
        "user.create",
        workspace_id=None,
        object_type="User",
        object_id=user.pk,
        after={"username": user.get_username(), "issuer": sso.issuer, "subject": claims["sub"]},
    )
    return user


def _free_name(claims: Mapping[str, Any], issuer: str) -> str:
    """Return the claimed name or address (with a suffix if taken); if none, `person-<hash>`."""
    mark = hashlib.sha256(f"{issuer}\n{claims['sub']}".encode()).hexdigest()[:12]
    for claim in ("preferred_username", "email"):
        name = claims.get(claim)
        if isinstance(name, str) and _is_name(name):
            taken = get_user_model().objects.filter(username__iexact=name).exists()
            return f"{name[:130]}-{mark}" if taken else name
    return f"person-{mark}"


def _is_name(name: str) -> bool:
    try:
        UnicodeUsernameValidator()(name)
    except ValidationError:
        return False
    return len(name) <= 150


def _text(claims: Mapping[str, Any], claim: str) -> str:
    value = claims.get(claim)
    return value.replace("\x00", "")[:150] if isinstance(value, str) else ""
