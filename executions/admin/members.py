"""Members of workspaces, for administrators of these workspaces."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.access.people import LONGEST_NAME, name_path, person_named
from executions.accounts import members
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.base import WritingAdmin
from executions.admin.operations import AdminOperation
from executions.admin.skin import CheckboxSelectMultiple, Select, Textarea, TextInput, display
from executions.language import lazy
from executions.models import Membership, ServiceAccount
from executions.states import Permission, Role

ROLES = (
    (Role.ADMIN.value, lazy("ADMIN: everything in the workspace")),
    (
        Role.WORKFLOW.value,
        lazy("WORKFLOW: edit, publish, start and operate workflows; view everything"),
    ),
    (Role.SYSTEM.value, lazy("SYSTEM: start workflows, publish events, act as a remote runner")),
    (Role.USER.value, lazy("USER: shared workflows only")),
)


def role_field(initial: str) -> forms.ChoiceField:
    """Return the form field of the role; the choices explain each role."""
    return forms.ChoiceField(choices=ROLES, initial=initial, widget=Select())


def permissions_field() -> forms.MultipleChoiceField:
    """Return the form field of additional permissions, as checkboxes."""
    return forms.MultipleChoiceField(
        choices=[(p.value, f"{p.value}: {p.label}") for p in Permission],
        required=False,
        widget=CheckboxSelectMultiple(),
        help_text=lazy(
            "Permissions in addition to the role. ADMIN has all of them; WORKFLOW has all except "
            "reveal, configure and deploy."
        ),
    )


class MembershipForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """The form of a member's role and permissions."""

    role = role_field(Role.USER)
    permissions = permissions_field()

    class Meta:
        model = Membership
        fields: tuple[str, ...] = ("role", "permissions")


class NewMembershipForm(MembershipForm):
    """The form for a new member; users type the name, so the form does not list all users."""

    username = forms.CharField(
        max_length=LONGEST_NAME,
        widget=TextInput(attrs={"autocomplete": "off"}),
        help_text=lazy("The username of an existing user."),
        label=lazy("Username"),
    )

    class Meta(MembershipForm.Meta):
        fields = ("workspace", "role", "permissions")

    def clean(self) -> dict[str, Any]:
        """Find the user by name; report an unknown name next to the input."""
        data = super().clean() or {}
        name = data.get("username")
        data["user"] = person_named(name)
        if name and data["user"] is None:
            self.add_error("username", gettext("There is no such user."))
        return data


class ServiceAccountForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """The form of a service account: its workspace, name, description, role and permissions."""

    role = role_field(Role.SYSTEM)
    permissions = permissions_field()

    class Meta:
        model = ServiceAccount
        fields = ("workspace", "name", "description")
        widgets = {
            "name": TextInput(),
            "description": Textarea(attrs={"rows": 2}),
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


# role → (icon, colour); the word is the role's name.
MARKS = {
    Role.ADMIN: ("shield_person", "amber"),
    Role.WORKFLOW: ("edit_note", "blue"),
    Role.SYSTEM: ("smart_toy", "grey"),
    Role.USER: ("person", "grey"),
}


def role_mark(role: str) -> Any:
    """Return a role as an icon and a word."""
    return marks.mark(str(role), *MARKS[Role(role)])


def _remove(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    members.remove_member(pk, actor=actor, reason=data["reason"])


REMOVE = AdminOperation(
    Operation(
        name="remove",
        apply=_remove,
        needs=Action.ADMINISTER,
    ),
    title=lazy("Remove…"),
    icon="person_remove",
    done=lazy("removed"),
    question=lazy(
        "Immediately removes all access to this workspace, including workflows that were shared "
        "with the member, and revokes the member's tokens for it."
    ),
    danger=True,
    destination=lambda _: links.listing("executions_membership"),
)


@admin.register(Membership)
class MembershipAdmin(OperatingAdmin, WritingAdmin):
    """The roles of users in workspaces."""

    sensitive = True
    form = MembershipForm
    operations = (REMOVE,)
    list_display = ("user", "workspace", "role_shown", "beyond", "origin", "since")
    list_select_related = ("user__valkyr_service_account", "workspace")
    list_filter = ("role",)
    search_texts = (name_path(), "workspace__slug")
    needs = Action.ADMINISTER
    empty_text = lazy("No members in the workspaces that you administer.")

    @display(description=lazy("role"), ordering="role")
    def role_shown(self, row: Membership) -> Any:
        """Return the member's role as an icon and a word."""
        return role_mark(row.role)

    @display(description=lazy("additional permissions"))
    def beyond(self, row: Membership) -> str:
        """Return the member's permissions in addition to the role's; a dash if there are none."""
        return ", ".join(row.permissions) or marks.EMPTY

    @display(description=lazy("origin"))
    def origin(self, row: Membership) -> str:
        """Return the origin of the role: an identity provider, "manual" or "service account"."""
        if getattr(row.user, "valkyr_service_account", None) is not None:
            return gettext("service account")
        return row.source or gettext("manual")

    @display(description=lazy("since"))
    def since(self, row: Membership) -> Any:
        """Return the time since the user became a member."""
        return marks.ago(row.created_at)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the fields; only the form for a new member has an input for the user's name."""
        who = "username" if obj is None else "user"
        return ("workspace", who, "role", "permissions")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Keep the user and the workspace of an existing membership read-only."""
        return () if obj is None else ("workspace", "user")

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """Return the form for an existing member; for a new member, a form with a name input."""
        kwargs["form"] = NewMembershipForm if obj is None else MembershipForm
        return super().get_form(request, obj, change, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Forbid deletion here: only the operation protects the last administrator."""
        return False

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> Membership:
        """Add the user as a member, or change a member's role and permissions."""
        actor, data = Actor.of_request(request), form.cleaned_data
        granted = {"role": data["role"], "permissions": data["permissions"]}
        if change:
            return members.change_member(obj.pk, actor=actor, **granted)
        return members.add_member(data["workspace"], data["user"], actor=actor, **granted)
