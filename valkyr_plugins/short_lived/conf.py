"""The settings of short-lived credentials."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, Words, read, setting


class ShortLivedSettings(SettingsModel):
    """Settings of the plugin `short_lived`."""

    title: ClassVar[str] = "Short-lived credentials"

    vault_kubernetes_addresses: Words = setting(
        (),
        "Vault servers that may get the worker's Kubernetes token, such as "
        "`https://vault.example.com:8200`: credentials of type `vault` can then sign in with this "
        "token. Every user who may configure credentials can use every Vault role that is "
        "bound to the worker's service account",
        unset="none",
    )
    vault_kubernetes_token_file: str = setting(
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
        "The file that contains the Kubernetes token",
    )
    aws_web_identity_roles: Words = setting(
        (),
        "AWS roles that credentials of type `aws_sts` may assume with the worker's web identity "
        "(EKS), such as `arn:aws:iam::123456789012:role/shop`. Every user who may configure "
        "credentials can use these roles",
        unset="none",
    )
    aws_web_identity_token_file: str = setting(
        "/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
        "The file that contains the web identity token",
    )
    aws_sts_endpoint: str = setting(
        "",
        "The address of AWS's Security Token Service, such as a VPC endpoint's address",
        unset="AWS's own, in the credential's region",
    )


def settings() -> ShortLivedSettings:
    """Return the plugin's settings. Raises ImproperlyConfigured if a setting is invalid."""
    return read(ShortLivedSettings)
