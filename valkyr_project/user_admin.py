"""The stand-alone platform's pages for users and groups, and for the user's own password.

A project with its own pages keeps them: the engine registers no pages for accounts.
"""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from executions.access.actor import Actor
from executions.accounts import browser_sessions
from executions.admin.base import AuditedAdmin, note
from executions.database import transaction
from executions.vendor_seams.django_admin_password import replace_password_change
from valkyr_project.navigation import ADMINISTRATION_NAME, administration

# No pages for allauth's tables, because `manage.py link_sign_in` links accounts.
for _label in ("account", "socialaccount"):
    if apps.is_installed(f"allauth.{_label}"):
        for _model in apps.get_app_config(_label).get_models():
            if admin.site.is_registered(_model):
                admin.site.unregister(_model)
admin.site.unregister(User)
admin.site.unregister(Group)


class UserAddForm(UserCreationForm):
    """A form for a new user, without `autofocus`: Django's script focuses the first field.

    If both set the focus, their order is random, and browsers warn if the script is first.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].widget.attrs.pop("autofocus", None)


@admin.register(User)
class UserAdmin(AuditedAdmin, DjangoUserAdmin, ModelAdmin):  # type: ignore[type-arg]
    """The pages of users who sign in; memberships define their rights in workspaces."""

    sensitive = True
    form = UserChangeForm
    add_form = UserAddForm
    change_password_form = AdminPasswordChangeForm
    show_full_result_count = False
    list_fullwidth = True

    def get_urls(self) -> list[Any]:
        """Return Django's URLs and the URL of the page *Administration*."""
        view = self.admin_site.admin_view(administration)
        name = ADMINISTRATION_NAME
        return [path("administration/", view, name=name), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Return the users except service accounts, which have no password and no admin access."""
        return super().get_queryset(request).filter(valkyr_service_account=None)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: users are disabled, never deleted, so that their records keep an owner."""
        return False

    @transaction.atomic
    def user_change_password(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Change a user's password as Django does, in one transaction with the audit record."""
        return super().user_change_password(request, *args, **kwargs)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Log a change as Django does; record that a password was changed, but not the password."""
        match = request.resolver_match
        if match is not None and match.url_name == "auth_user_password_change":
            note(Actor.of_request(request), "password", obj)
        return super().log_change(request, obj, message)


@admin.register(Group)
class GroupAdmin(AuditedAdmin, DjangoGroupAdmin, ModelAdmin):
    """The pages of groups; each group has a set of Django permissions."""

    sensitive = True
    show_full_result_count = False
    list_fullwidth = True


# When users change their own password, the audit trail gets a row without the password.


@transaction.atomic
def password_change(
    request: HttpRequest, extra_context: dict[str, Any] | None = None
) -> HttpResponse:
    """Change the user's own password as Django does, in one transaction with the audit record."""
    user: Any = request.user
    before = user.password
    answer = _theirs(request, extra_context)
    if user.password != before:
        changed = get_user_model().objects.get(pk=user.pk)
        note(Actor.of_request(request), "password", changed)
        # The change ended all sessions. This browser, which sent the old password, gets a new
        # session.
        browser_sessions.open_for(request, changed)
    return answer


_theirs = replace_password_change(password_change)
