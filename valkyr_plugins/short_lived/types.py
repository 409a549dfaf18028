"""The types of credentials with short-lived values.

The functions that send requests are imported on first use, because most processes only need the
types.
"""

from collections.abc import Collection, Mapping

from executions.public.credentials import (
    CredentialSource,
    CredentialType,
    Issued,
    register,
)
from valkyr_plugins.short_lived.fields import aws_sts_problems, oauth2_problems, vault_problems


def _vault(source: CredentialSource, before: Issued | None) -> Issued:
    from valkyr_plugins.short_lived import vault

    return vault.issue(source, before)


def _oauth2(source: CredentialSource, before: Issued | None) -> Issued:
    from valkyr_plugins.short_lived import oauth2

    return oauth2.issue(source, before)


def _aws_sts(source: CredentialSource, before: Issued | None) -> Issued:
    from valkyr_plugins.short_lived import aws_sts

    return aws_sts.issue(source, before)


def _has_refresh_token(fields: Mapping[str, str]) -> bool:
    return "refresh_token" in fields


def _connected(names: Collection[str]) -> bool | None:
    if "refresh_token" in names:
        return True
    return False if "authorization_url" in names else None


VAULT = CredentialType(
    "vault",
    "a secret of HashiCorp Vault, read when a step needs it",
    ("address", "path", "auth"),
    optional=("token", "role_id", "secret_id", "role", "mount", "namespace", "url"),
    known=frozenset({"address", "path", "auth", "role_id", "role", "mount", "namespace", "url"}),
    address="url",
    check=vault_problems,
    issuer=_vault,
)


OAUTH2 = CredentialType(
    "oauth2",
    "an OAuth 2.0 client: gives steps an access token",
    ("token_url", "client_id"),
    optional=(
        "client_secret", "authorization_url", "refresh_token", "scope", "audience", "client_auth",
    ),
    known=frozenset(
        {"token_url", "authorization_url", "client_id", "scope", "audience", "client_auth"}
    ),
    check=oauth2_problems,
    issuer=_oauth2,
    rotates=_has_refresh_token,
    connected=_connected,
)  # fmt: skip


AWS_STS = CredentialType(
    "aws_sts",
    "a role of AWS: gives steps temporary keys",
    ("role_arn", "auth"),
    optional=(
        "access_key", "secret_key", "region", "external_id", "session_name", "duration_seconds",
        "endpoint",
    ),
    known=frozenset(
        {
            "role_arn", "auth", "region", "external_id", "session_name", "duration_seconds",
            "endpoint",
        }
    ),
    hosts=("*.amazonaws.com",),
    modules=("file.*", "archive.*"),
    check=aws_sts_problems,
    issuer=_aws_sts,
)  # fmt: skip


def register_types() -> None:
    """Register this plugin's types of credentials."""
    register(VAULT)
    register(OAUTH2)
    register(AWS_STS)
