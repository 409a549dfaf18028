"""The identity provider of this installation, as one immutable, checked object."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from executions.public.configuration import read
from valkyr_plugins.sso.conf import ROLES, Grant, SsoSettings


@dataclass(frozen=True, slots=True)
class SingleSignOn:
    """One identity provider, and what this installation accepts from it.

    `groups` maps the provider's groups to roles. With `only`, only superusers can sign in with a
    password. With `link_by_email`, a verified address is enough to link the account with that
    address, unless it is a superuser's account or a service account.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    scopes: tuple[str, ...]
    groups: Mapping[str, tuple[Grant, ...]]
    groups_claim: str
    create_users: bool
    link_by_email: bool
    only: bool
    domains: tuple[str, ...]


def configured() -> SingleSignOn | None:
    """Return the provider from the settings; None if there is none. Raises ImproperlyConfigured."""
    global _kept  # noqa: PLW0603 - asked for with each request
    chosen = read(SsoSettings)
    if _kept is None or _kept[0] is not chosen:
        _kept = (chosen, _provider(chosen))
    return _kept[1]


_kept: tuple[SsoSettings, SingleSignOn | None] | None = None


def _provider(chosen: SsoSettings) -> SingleSignOn | None:
    if not chosen.oidc_issuer:
        if chosen.oidc_only:
            raise ImproperlyConfigured(
                "VALKYR_OIDC_ONLY is on but VALKYR_OIDC_ISSUER is not set, so no user could sign "
                "in. Set the provider's address, or unset VALKYR_OIDC_ONLY."
            )
        return None
    return SingleSignOn(
        issuer=chosen.oidc_issuer,
        client_id=_required("VALKYR_OIDC_CLIENT_ID", chosen.oidc_client_id),
        client_secret=_client_secret(chosen),
        name=chosen.oidc_name,
        scopes=chosen.oidc_scopes,
        groups=chosen.oidc_roles,
        groups_claim=chosen.oidc_groups_claim,
        create_users=chosen.oidc_create_users,
        link_by_email=chosen.oidc_link_by_email,
        only=chosen.oidc_only,
        domains=chosen.oidc_domains,
    )


def _client_secret(chosen: SsoSettings) -> str:
    text, path = chosen.oidc_client_secret.get_secret_value(), chosen.oidc_client_secret_file
    if path and not text:
        try:
            text = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise ImproperlyConfigured(
                f"VALKYR_OIDC_CLIENT_SECRET_FILE names {path!r}, which cannot be read: "
                f"{type(error).__name__}."
            ) from None
    return _required("VALKYR_OIDC_CLIENT_SECRET (or VALKYR_OIDC_CLIENT_SECRET_FILE)", text)


def _required(name: str, value: str) -> str:
    if not value:
        raise ImproperlyConfigured(
            f"{name} is not set, but VALKYR_OIDC_ISSUER is. Set the value from your provider's "
            "registration of this installation, in the environment or in VALKYR."
        )
    return value


# Derive roles in workspaces from the groups in a token. Pure.


def groups_in(claims: Mapping[str, Any], claim: str) -> list[str]:
    """Return the groups in a claim that is a list or a string; [] for any other value."""
    value = claims.get(claim)
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [group for group in value if isinstance(group, str)]
    return []


def roles_for(groups: Iterable[str], grants: Mapping[str, tuple[Grant, ...]]) -> dict[str, str]:
    """Return the role for each workspace slug, the most powerful one if groups grant several."""
    found: dict[str, str] = {}
    for grant in (grant for group in groups for grant in grants.get(group, ())):
        held = found.get(grant.workspace)
        if held is None or ROLES.index(grant.role) < ROLES.index(held):
            found[grant.workspace] = grant.role
    return found
