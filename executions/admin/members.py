"""Members of workspaces, for those who administer them."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.accounts import members
from executions.admin import links, marks
from executions.admin.member_forms import MembershipForm, NewMembershipForm
from executions.admin.operating import OperatingAdmin
from executions.admin.operations import AdminOperation
from executions.admin.writing import WritingAdmin
from executions.models import Membership
from executions.states import Role

# role: (icon, colour); the word is the role's own.
MARKS = {
    Role.ADMIN: ("shield_person", "amber"),
    Role.WORKFLOW: ("edit_note", "blue"),
    Role.SYSTEM: ("smart_toy", "grey"),
    Role.USER: ("person", "grey"),
}


def role_mark(role: str) -> Any:
    """A role as icon and word."""
    return marks.mark(str(role), *MARKS[Role(role)])


def _remove(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    members.remove_member(pk, actor=actor, reason=data["reason"])


REMOVE = AdminOperation(
    Operation(
        name="remove",
        apply=_remove,
        needs=Action.ADMINISTER,
    ),
    title="Remove…",
    icon="person_remove",
    done="removed",
    question="They may do nothing in this workspace any more, at once; their tokens for it "
    "are revoked.",
    danger=True,
    destination=lambda _: links.listing("executions_membership"),
)


@admin.register(Membership)
class MembershipAdmin(OperatingAdmin, WritingAdmin):
    """Who may do what in which workspace."""

    form = MembershipForm
    operations = (REMOVE,)
    list_display = ("user", "workspace", "role_shown", "beyond", "origin", "since")
    list_select_related = ("user__service_account", "workspace")
    list_filter = ("role",)
    search_texts = ("user__username", "workspace__slug")
    needs = Action.ADMINISTER
    empty_text = "No members of a workspace that you administer."

    @display(description="role", ordering="role")
    def role_shown(self, row: Membership) -> Any:
        """The role."""
        return role_mark(row.role)

    @display(description="beyond the role")
    def beyond(self, row: Membership) -> str:
        """The finer permissions."""
        return ", ".join(row.permissions) or marks.EMPTY

    @display(description="given by")
    def origin(self, row: Membership) -> str:
        """Whether the identity provider or a person gave it."""
        if getattr(row.user, "service_account", None) is not None:
            return "service account"
        return row.source or "hand"

    @display(description="since")
    def since(self, row: Membership) -> Any:
        """How long they are in it."""
        return marks.ago(row.created_at)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """The person is named once, and stays."""
        who = "username" if obj is None else "user"
        return ("workspace", who, "role", "permissions")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """A membership is one person's in one workspace."""
        return () if obj is None else ("workspace", "user")

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form that names a person, or the one that does not."""
        kwargs["form"] = NewMembershipForm if obj is None else MembershipForm
        return super().get_form(request, obj, change, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They are removed by the operation, which keeps the last administrator."""
        return False

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> Membership:
        """Add the person, or change role and permissions."""
        actor, data = Actor.of_request(request), form.cleaned_data
        granted = {"role": data["role"], "permissions": data["permissions"]}
        if change:
            return members.change_member(obj.pk, actor=actor, **granted)
        return members.add_member(data["workspace"], data["user"], actor=actor, **granted)
