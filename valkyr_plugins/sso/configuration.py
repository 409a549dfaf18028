"""What the environment says about the identity provider, as one frozen, checked object."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from executions.public import environment as env

ROLES = ("ADMIN", "WORKFLOW", "SYSTEM", "USER")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# The column that keeps the issuer of an account is so long.
LONGEST_ISSUER = 200
_GRANT = re.compile(r"(?P<workspace>[-a-zA-Z0-9_]{1,80}):(?P<role>[A-Z]+)")


@dataclass(frozen=True, slots=True)
class Grant:
    """A role in the workspace of a slug."""

    workspace: str
    role: str


@dataclass(frozen=True, slots=True)
class SingleSignOn:
    """One identity provider and how far it is believed.

    `groups` says what the members of a group of the provider are here. `only`: people have no
    password here, superusers excepted. `link_by_email`: a verified address is enough to take over
    the local account that carries it.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str = "single sign-on"
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups: Mapping[str, tuple[Grant, ...]] = field(default_factory=dict)
    groups_claim: str = "groups"
    create_users: bool = True
    link_by_email: bool = False
    only: bool = False
    domains: tuple[str, ...] = ()


def configured() -> SingleSignOn | None:
    """The provider of this installation's settings, or None."""
    found: SingleSignOn | None = getattr(settings, "SINGLE_SIGN_ON", None)
    return found


def from_environment() -> SingleSignOn | None:
    """The provider that VALKYR_OIDC_ISSUER names, or None; raises ImproperlyConfigured."""
    issuer = env.text("VALKYR_OIDC_ISSUER")
    if not issuer:
        if env.flag("VALKYR_OIDC_ONLY", False):
            raise ImproperlyConfigured(
                "VALKYR_OIDC_ONLY is 1 but VALKYR_OIDC_ISSUER is not set, so nobody could sign in. "
                "Set the provider's address, or VALKYR_OIDC_ONLY=0."
            )
        return None
    return SingleSignOn(
        issuer=_checked_issuer(issuer),
        client_id=_required("VALKYR_OIDC_CLIENT_ID", env.text("VALKYR_OIDC_CLIENT_ID")),
        client_secret=_client_secret(),
        name=env.text("VALKYR_OIDC_NAME", "single sign-on")[:60],
        scopes=tuple(dict.fromkeys(["openid", *_scopes()])),
        groups=read_groups(env.text("VALKYR_OIDC_ROLES", "{}")),
        groups_claim=env.text("VALKYR_OIDC_GROUPS_CLAIM", "groups"),
        create_users=env.flag("VALKYR_OIDC_CREATE_USERS", True),
        link_by_email=env.flag("VALKYR_OIDC_LINK_BY_EMAIL", False),
        only=env.flag("VALKYR_OIDC_ONLY", False),
        domains=tuple(domain.lower().lstrip("@") for domain in env.words("VALKYR_OIDC_DOMAINS")),
    )


def read_groups(text: str) -> dict[str, tuple[Grant, ...]]:
    """The grants of each group from `{"group": "workspace:ROLE"}`, a list of them, or both.

    Raises ImproperlyConfigured, which names the group.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ImproperlyConfigured(f"VALKYR_OIDC_ROLES is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise ImproperlyConfigured(
            'VALKYR_OIDC_ROLES must be an object such as {"engineers": "default:WORKFLOW"}.'
        )
    return {group: _grants(group, given) for group, given in value.items()}


def _grants(group: str, given: Any) -> tuple[Grant, ...]:
    return tuple(_grant(group, text) for text in (given if isinstance(given, list) else [given]))


def _grant(group: str, text: Any) -> Grant:
    match = _GRANT.fullmatch(text) if isinstance(text, str) else None
    if match is None or match["role"] not in ROLES:
        raise ImproperlyConfigured(
            f"VALKYR_OIDC_ROLES gives the group {group!r} {text!r}; expected the workspace's slug, "
            f"a colon and one of {', '.join(ROLES)}, e.g. default:WORKFLOW."
        )
    return Grant(match["workspace"], match["role"])


def _scopes() -> list[str]:
    return env.text("VALKYR_OIDC_SCOPES", "openid profile email").replace(",", " ").split()


def _checked_issuer(issuer: str) -> str:
    parts = urlsplit(issuer)
    local = parts.scheme == "http" and parts.hostname in LOOPBACK
    if (
        not parts.hostname
        or parts.query
        or parts.fragment
        or not (parts.scheme == "https" or local)
    ):
        raise ImproperlyConfigured(
            f"VALKYR_OIDC_ISSUER is {issuer!r}; expected the provider's issuer as its discovery "
            "document spells it: an https:// address without a query."
        )
    if len(issuer) > LONGEST_ISSUER:
        raise ImproperlyConfigured(
            f"VALKYR_OIDC_ISSUER has {len(issuer)} characters; at most {LONGEST_ISSUER} are taken."
        )
    return issuer


def _client_secret() -> str:
    text, path = env.text("VALKYR_OIDC_CLIENT_SECRET"), env.text("VALKYR_OIDC_CLIENT_SECRET_FILE")
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
            f"{name} is not set, but VALKYR_OIDC_ISSUER is. Set what the provider gave you when "
            "you registered this installation there."
        )
    return value


# From the groups of a token to roles in workspaces. Pure.


def groups_in(claims: Mapping[str, Any], claim: str) -> list[str]:
    """The groups that a claim lists, as a list or as one text; none where it is something else."""
    value = claims.get(claim)
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [group for group in value if isinstance(group, str)]
    return []


def roles_for(groups: Iterable[str], grants: Mapping[str, tuple[Grant, ...]]) -> dict[str, str]:
    """The role by workspace slug; of several in one workspace the one that allows most."""
    found: dict[str, str] = {}
    for grant in (grant for group in groups for grant in grants.get(group, ())):
        held = found.get(grant.workspace)
        if held is None or ROLES.index(grant.role) < ROLES.index(held):
            found[grant.workspace] = grant.role
    return found
