"""The fields of credentials with short-lived values, and their problems. This module is pure."""

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from executions.public.credentials import DefinitionProblem

TOKEN, APPROLE, KUBERNETES = "token", "approle", "kubernetes"
# For each way to sign in: the required fields.
NEEDS: Mapping[str, tuple[str, ...]] = {
    TOKEN: ("token",),
    APPROLE: ("role_id", "secret_id"),
    KUBERNETES: ("role",),
}


def vault_problems(fields: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield the problems of a Vault credential's fields."""
    if not is_secure(str(fields.get("address", ""))):
        yield DefinitionProblem(
            "fields.address",
            "bad_address",
            "Write the address of Vault with https://, such as https://vault.example.com:8200. "
            "http:// is allowed only for localhost and loopback addresses.",
        )
    auth = fields.get("auth")
    if auth not in NEEDS:
        ways = ", ".join(NEEDS)
        yield DefinitionProblem("fields.auth", "unknown_value", f"Write one of {ways}.")
        return
    for name in NEEDS[str(auth)]:
        if not fields.get(name):
            message = f"This field is required to sign in by {auth}."
            yield DefinitionProblem(f"fields.{name}", "required", message)


BASIC, POST = "basic", "post"


def oauth2_problems(fields: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield the problems of an OAuth 2.0 credential's fields."""
    if not is_secure(str(fields.get("token_url", ""))):
        yield DefinitionProblem(
            "fields.token_url",
            "bad_address",
            "Write the token endpoint with https://, such as https://id.example.com/oauth2/token. "
            "http:// is allowed only for localhost and loopback addresses.",
        )
    if fields.get("client_auth", BASIC) not in (BASIC, POST):
        message = f"Write {BASIC} (the default) or {POST}."
        yield DefinitionProblem("fields.client_auth", "unknown_value", message)
    page = str(fields.get("authorization_url", ""))
    if page and not is_secure(page):
        yield DefinitionProblem(
            "fields.authorization_url",
            "bad_address",
            "Write the authorization endpoint with https://, such as "
            "https://id.example.com/oauth2/authorize.",
        )
    if not page and not fields.get("refresh_token") and not fields.get("client_secret"):
        message = "Set client_secret (client credentials), refresh_token or authorization_url."
        yield DefinitionProblem("fields.client_secret", "required", message)


KEYS, WEB_IDENTITY = "keys", "web_identity"
SECONDS, SHORTEST, LONGEST = 3600, 900, 43_200  # default, minimum and maximum of a session
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[\w+=,.@/-]{1,576}", re.ASCII)
_SESSION = re.compile(r"[\w+=,.@-]{2,64}", re.ASCII)
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]{1,2}")


def aws_sts_problems(fields: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield the problems of an AWS STS credential's fields."""
    if not _ROLE.fullmatch(str(fields.get("role_arn", "")).strip()):
        message = "Write the ARN of a role, such as arn:aws:iam::123456789012:role/shop."
        yield DefinitionProblem("fields.role_arn", "bad_value", message)
    yield from _of_session(fields)
    auth = fields.get("auth")
    if auth not in (KEYS, WEB_IDENTITY):
        yield DefinitionProblem("fields.auth", "unknown_value", f"Write {KEYS} or {WEB_IDENTITY}.")
        return
    for name in ("access_key", "secret_key"):
        if auth == KEYS and not fields.get(name):
            message = f"Signing in by {KEYS} needs it."
            yield DefinitionProblem(f"fields.{name}", "required", message)
    for name in ("access_key", "secret_key", "external_id", "endpoint"):
        if auth == WEB_IDENTITY and fields.get(name):
            message = f"Signing in by {WEB_IDENTITY} does not use it: remove it."
            yield DefinitionProblem(f"fields.{name}", "unknown_field", message)
    if fields.get("endpoint") and not is_secure(str(fields["endpoint"])):
        yield DefinitionProblem(
            "fields.endpoint",
            "bad_address",
            "Write the address of STS with https://, or leave it out for AWS's own.",
        )


def _of_session(fields: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    if fields.get("region") and not _REGION.fullmatch(str(fields["region"])):
        yield DefinitionProblem(
            "fields.region", "bad_value", "Write a region such as eu-central-1."
        )
    if fields.get("session_name") and not _SESSION.fullmatch(str(fields["session_name"])):
        message = "Write 2 to 64 letters, digits or any of +=,.@-_."
        yield DefinitionProblem("fields.session_name", "bad_value", message)
    text = str(fields.get("duration_seconds", SECONDS))
    if not (text.isascii() and text.isdigit() and SHORTEST <= int(text[:9]) <= LONGEST):
        message = f"Write a number of seconds from {SHORTEST} to {LONGEST}."
        yield DefinitionProblem("fields.duration_seconds", "bad_value", message)


def is_secure(address: str) -> bool:
    """Return whether secrets may go to an address: over TLS, or on this machine."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        parts.port  # noqa: B018 - raises for an invalid port
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and _is_here(host)))


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
