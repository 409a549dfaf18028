"""Forms of those who work in a workspace: people by name, programs, roles and permissions."""

from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from executions.models import Membership, ServiceAccount
from executions.states import Permission, Role

ROLES = (
    (Role.ADMIN.value, "ADMIN: everything in the workspace"),
    (Role.WORKFLOW.value, "WORKFLOW: write, publish and operate; sees everything"),
    (Role.SYSTEM.value, "SYSTEM: trigger, publish events, work as a remote runner"),
    (Role.USER.value, "USER: only what is shared with them"),
)


def role_field(initial: str) -> forms.ChoiceField:
    """The role, with what each allows."""
    return forms.ChoiceField(choices=ROLES, initial=initial, widget=UnfoldAdminSelectWidget())


def permissions_field() -> forms.MultipleChoiceField:
    """The finer permissions, as checkboxes."""
    return forms.MultipleChoiceField(
        choices=[(p.value, f"{p.value}: {p.label}") for p in Permission],
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="Beyond the role. ADMIN has them all; WORKFLOW all but reveal and configure.",
    )


class MembershipForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """What a member may."""

    role = role_field(Role.USER)
    permissions = permissions_field()

    class Meta:
        model = Membership
        fields: tuple[str, ...] = ("role", "permissions")


class NewMembershipForm(MembershipForm):
    """A person to add; the name is typed, so that nobody reads a list of all people."""

    username = forms.CharField(
        max_length=150,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="An existing user's name.",
    )

    class Meta(MembershipForm.Meta):
        fields = ("workspace", "role", "permissions")

    def clean(self) -> dict[str, Any]:
        """Find the person."""
        data = super().clean() or {}
        name = data.get("username")
        data["user"] = get_user_model().objects.filter(username=name).first() if name else None
        if name and data["user"] is None:
            self.add_error("username", "There is no such user.")
        return data


class ServiceAccountForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """A program of a workspace."""

    role = role_field(Role.SYSTEM)
    permissions = permissions_field()

    class Meta:
        model = ServiceAccount
        fields = ("workspace", "name", "description")
        widgets = {
            "name": UnfoldAdminTextInputWidget(),
            "description": UnfoldAdminTextareaWidget(attrs={"rows": 2}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        membership = None
        if not self.instance._state.adding:
            membership = Membership.objects.filter(
                user_id=self.instance.user_id, workspace_id=self.instance.workspace_id
            ).first()
        if membership is not None:
            self.initial["role"] = membership.role
            self.initial["permissions"] = membership.permissions
