"""The fields of credentials with short-lived values, and their problems. Pure."""

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from executions.public.credentials import DefinitionProblem

TOKEN, APPROLE, KUBERNETES = "token", "approle", "kubernetes"
# The fields that each way to sign in needs.
NEEDS: Mapping[str, tuple[str, ...]] = {
    TOKEN: ("token",),
    APPROLE: ("role_id", "secret_id"),
    KUBERNETES: ("role",),
}


def vault_problems(fields: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield the problems of a credential's fields."""
    if not is_secure(str(fields.get("address", ""))):
        yield DefinitionProblem(
            "fields.address",
            "bad_address",
            "Write the address of Vault with https://, such as https://vault.example.com:8200. "
            "http:// is allowed for an address of this machine only.",
        )
    auth = fields.get("auth")
    if auth not in NEEDS:
        ways = ", ".join(NEEDS)
        yield DefinitionProblem("fields.auth", "unknown_value", f"Write one of {ways}.")
        return
    for name in NEEDS[str(auth)]:
        if not fields.get(name):
            message = f"Signing in by {auth} needs it."
            yield DefinitionProblem(f"fields.{name}", "required", message)


BASIC, POST = "basic", "post"


def oauth2_problems(fields: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield the problems of a credential's fields."""
    if not is_secure(str(fields.get("token_url", ""))):
        yield DefinitionProblem(
            "fields.token_url",
            "bad_address",
            "Write the token endpoint with https://, such as https://id.example.com/oauth2/token. "
            "http:// is allowed for an address of this machine only.",
        )
    if fields.get("client_auth", BASIC) not in (BASIC, POST):
        message = f"Write {BASIC} (the default) or {POST}."
        yield DefinitionProblem("fields.client_auth", "unknown_value", message)
    if not fields.get("refresh_token") and not fields.get("client_secret"):
        message = "Set client_secret (client credentials), refresh_token, or both."
        yield DefinitionProblem("fields.client_secret", "required", message)


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
