"""The settings of the identity provider."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr

from executions.public.configuration import Flag, SettingsModel, setting

ROLES = ("ADMIN", "WORKFLOW", "SYSTEM", "USER")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Maximum characters of an issuer: the length of the column that stores it.
LONGEST_ISSUER = 200
_GRANT = re.compile(r"(?P<workspace>[-a-zA-Z0-9_]{1,80}):(?P<role>[A-Z]+)")
ISSUER = (
    "the provider's issuer as its discovery document spells it: an https:// address without a "
    f"query, of at most {LONGEST_ISSUER} characters"
)
EXAMPLE = '{"engineers": "default:WORKFLOW"}'


@dataclass(frozen=True, slots=True)
class Grant:
    """A role in a workspace; `workspace` is the workspace's slug."""

    workspace: str
    role: str


def _issuer(text: str) -> str:
    parts = urlsplit(text)
    local = parts.scheme == "http" and parts.hostname in LOOPBACK
    plain = parts.hostname and not parts.query and not parts.fragment
    if text and (not plain or len(text) > LONGEST_ISSUER or not (parts.scheme == "https" or local)):
        raise ValueError(ISSUER)
    return text


def _scopes(value: Any) -> Any:
    words = value.replace(",", " ").split() if isinstance(value, str) else value
    return tuple(dict.fromkeys(["openid", *words])) if isinstance(words, list | tuple) else words


def _domains(value: Any) -> Any:
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list | tuple):
        return words
    return tuple(str(word).strip().lower().lstrip("@") for word in words if str(word).strip())


def read_groups(given: Any) -> dict[str, tuple[Grant, ...]]:
    """Return the grants of each group, from `{"group": "workspace:ROLE"}`; a value can be a list.

    Accepts the dictionary or its JSON. Raises ValueError.
    """
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except ValueError as error:
        raise ValueError(f"JSON such as {EXAMPLE} ({error})") from None
    if not isinstance(value, Mapping):
        raise ValueError(f"an object such as {EXAMPLE}")  # noqa: TRY004 - pydantic's
    return {group: _grants(group, one) for group, one in value.items()}


def _grants(group: str, given: Any) -> tuple[Grant, ...]:
    several = given if isinstance(given, list | tuple) else [given]
    return tuple(_grant(group, text) for text in several)


def _grant(group: str, text: Any) -> Grant:
    match = _GRANT.fullmatch(text) if isinstance(text, str) else None
    if match is None or match["role"] not in ROLES:
        raise ValueError(
            f"for the group {group!r} the workspace's slug, a colon and one of "
            f"{', '.join(ROLES)}, e.g. default:WORKFLOW, not {text!r}"
        )
    return Grant(match["workspace"], match["role"])


class SsoSettings(SettingsModel):
    """Settings of the plugin `sso`, which is off without an issuer.

    Register `https://<this installation>/sso/callback` with the provider. [Single
    sign-on](../explanation/security.md#single-sign-on) describes the checks and the permissions of
    users.
    """

    title: ClassVar[str] = "Single sign-on"

    oidc_issuer: Annotated[str, AfterValidator(_issuer)] = setting(
        "",
        "The OpenID Connect provider's issuer, exactly as in its discovery document; an `https://` "
        "address (`http://` only on this machine)",
    )
    oidc_client_id: str = setting("", "The client id of this installation at the provider")
    oidc_client_secret: SecretStr = setting(SecretStr(""), "The client secret from the provider")
    oidc_client_secret_file: str = setting("", "A file that contains the client secret")
    oidc_name: str = setting("single sign-on", "Name on the button *Sign in with …*", max_length=60)
    oidc_scopes: Annotated[tuple[str, ...], BeforeValidator(_scopes)] = setting(
        ("openid", "profile", "email"),
        "The requested scopes, separated by spaces; some providers need `groups`",
        unset="`openid profile email`",
    )
    oidc_groups_claim: str = setting("groups", "The claim that lists a person's groups")
    oidc_roles: Annotated[Any, BeforeValidator(read_groups)] = setting(
        {},
        "A mapping from a group's name to `workspace-slug:ROLE` or to a list of these (JSON in the "
        f"environment): `{EXAMPLE}`. Roles are set at each sign-in",
        unset="none",
    )
    oidc_create_users: Flag = setting(
        True,
        "Whether new users get an account. If not, each new user must be linked to an existing "
        "account: by an administrator (`manage.py link_sign_in <user name> <subject>`), or by a "
        "verified email address (`OIDC_LINK_BY_EMAIL`)",
    )
    oidc_link_by_email: Flag = setting(
        False,
        "Whether a verified email address links the user to the only local account with this "
        "address; accounts of superusers and service accounts are never linked",
    )
    oidc_domains: Annotated[tuple[str, ...], BeforeValidator(_domains)] = setting(
        (),
        "Domains, separated by commas; users need a verified email address in one of them",
        unset="all",
    )
    oidc_only: Flag = setting(
        False,
        "Whether the passwords of all users except superusers are rejected, in the admin and for "
        "tokens. If so, the admin's sign-in page shows the password form only with `?password` in "
        "its address",
    )
