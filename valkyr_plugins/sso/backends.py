"""Who may sign in how: by password, or by the identity provider."""

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.backends import ModelBackend

from valkyr_plugins.sso.configuration import configured


def may_use_a_password(user: Any) -> bool:
    """Whether a password, or a token that was given for one, is good for this user (or nobody)."""
    if user is None or not user.is_active:
        return False
    sso = configured()
    return sso is None or not sso.only or bool(user.is_superuser)


class PasswordBackend(ModelBackend):
    """Django's passwords; with VALKYR_OIDC_ONLY those of superusers alone.

    A superuser's password is the way in when the provider is away. Sessions that others began by
    password end as soon as the setting is on.
    """

    def user_can_authenticate(self, user: Any) -> bool:
        """Whether this user may be signed in, or stay so, by password."""
        return may_use_a_password(user) and super().user_can_authenticate(user)


class SingleSignOnBackend(AuthenticationBackend):
    """Sessions that the identity provider's answer began; there is no password to it."""

    def authenticate(self, request: Any, **credentials: Any) -> None:
        """Nobody: allauth's own would take passwords here."""

    def get_user(self, user_id: Any) -> Any:
        """The session's user, while there is a provider to vouch for people at all."""
        return super().get_user(user_id) if configured() is not None else None
