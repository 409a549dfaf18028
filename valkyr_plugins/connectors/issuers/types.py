"""The types of credentials with short-lived values.

The functions that ask are imported at their first use: most processes only need the types.
"""

from executions.public.credentials import (
    CredentialType,
    Issued,
    Source,
    register,
)
from valkyr_plugins.connectors.issuers.fields import vault_problems


def _vault(source: Source, before: Issued | None) -> Issued:
    from valkyr_plugins.connectors.issuers import vault

    return vault.issue(source, before)


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


def register_types() -> None:
    """Register the types of this plugin."""
    register(VAULT)
