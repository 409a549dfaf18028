"""The ways to sign in: with a password, or through the identity provider."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.backends import ModelBackend

from valkyr_plugins.sso.configuration import configured


def may_use_a_password(user: Any) -> bool:
    """Return whether this user may use a password, or a token issued for a password."""
    if user is None or not user.is_active:
        return False
    sso = configured()
    return sso is None or not sso.only or bool(user.is_superuser)


class PasswordBackend(ModelBackend):
    """Django's passwords; with VALKYR_OIDC_ONLY, only the passwords of superusers.

    Superusers can sign in with a password while the provider is unavailable. Other users' sessions
    that began with a password end as soon as the setting is on.
    """

    def user_can_authenticate(self, user: Any) -> bool:
        """Return whether this user may sign in, or remain signed in, with a password."""
        return may_use_a_password(user) and super().user_can_authenticate(user)


class SingleSignOnBackend(AuthenticationBackend):
    """Restores the sessions of users who signed in through the identity provider."""

    def authenticate(self, request: Any, **credentials: Any) -> None:
        """Return None: allauth's own method would accept passwords."""

    def get_user(self, user_id: Any) -> Any:
        """Return the session's user; None if no provider is configured."""
        return super().get_user(user_id) if configured() is not None else None
