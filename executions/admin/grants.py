"""Object permissions in the admin: granted on a workflow's page, listed and revoked here."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.access import Action, grants
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.access.people import LONGEST_NAME, name_path
from executions.admin import links
from executions.admin.actions import OperatingAdmin
from executions.admin.base import FactAdmin
from executions.admin.operations import AdminOperation
from executions.admin.sections import Page, facts
from executions.admin.skin import CheckboxSelectMultiple, DialogForm, TextInput, display
from executions.language import lazy
from executions.models import Workflow, WorkflowGroupPermission, WorkflowUserPermission

EXPLAINED = (
    ("READ", lazy("READ: view the workflow and its executions")),
    ("WRITE", lazy("WRITE: edit and publish the workflow, operate its executions")),
    ("EXECUTE", lazy("EXECUTE: start, replay, fork and signal executions")),
    ("DELETE", lazy("DELETE: archive the workflow")),
)


class ShareForm(DialogForm):
    """The form that gives a user or a group permissions on one workflow."""

    name = forms.CharField(
        max_length=LONGEST_NAME,
        widget=TextInput(),
        help_text=lazy("A member's username or a group's name."),
        label=lazy("Name"),
    )
    is_group = forms.BooleanField(required=False, label=lazy("This is a group"))
    permissions = forms.MultipleChoiceField(
        choices=EXPLAINED,
        required=False,
        widget=CheckboxSelectMultiple(),
        help_text=lazy("Permissions to grant. Select none to revoke all."),
        label=lazy("Permissions"),
    )
    reason = forms.CharField(
        required=False, max_length=2000, widget=TextInput(), label=lazy("Reason")
    )


def _share(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> grants.Grant:
    who = {"group" if data["is_group"] else "username": data["name"].strip()}
    return grants.give(
        Workflow.objects.defer("definition").get(pk=pk),
        data["permissions"],
        actor=actor,
        reason=data["reason"],
        **who,
    )


SHARE = AdminOperation(
    Operation(
        name="share",
        apply=_share,
        needs=Action.ADMINISTER,
    ),
    title=lazy("Share…"),
    icon="person_add",
    done=lazy("shared"),
    question=lazy(
        "Sets the permissions of a member or a group on this workflow and its executions, runs and "
        "dead letters. Revokes permissions that you do not select. Roles do not change."
    ),
    form=ShareForm,
    bulk=False,
)


def _take_back(model: Any) -> Any:
    def apply(pk: Any, actor: Actor, data: Mapping[str, Any]) -> None:
        row = model.objects.select_related("content_object", "permission").get(pk=pk)
        who = (
            {"username": row.user.get_username()}
            if model is WorkflowUserPermission
            else {"group": row.group.name}
        )
        held = model.objects.filter(content_object=row.content_object).exclude(pk=row.pk)
        held = held.filter(**({"user": row.user} if "username" in who else {"group": row.group}))
        codes = set(held.values_list("permission__codename", flat=True))
        kept = [name for name, code in grants.NAMES.items() if code in codes]
        grants.give(row.content_object, kept, actor=actor, reason=data["reason"], **who)

    return apply


def taking_back(model: Any) -> AdminOperation:
    """Return the operation that revokes one object permission."""
    return AdminOperation(
        Operation(
            name="take_back",
            apply=_take_back(model),
            needs=Action.ADMINISTER,
        ),
        title=lazy("Revoke…"),
        icon="person_remove",
        done=lazy("revoked"),
        question=lazy("Removes this permission immediately."),
        danger=True,
        bulk=False,
        destination=lambda _: links.listing(f"executions_{model._meta.model_name}"),
    )


class GrantAdmin(OperatingAdmin, FactAdmin):
    """Object permissions, each of one user or one group on one workflow."""

    needs = Action.ADMINISTER
    ordering = ("-id",)
    empty_text = lazy("No shared workflows. Use “Share…” on a workflow's page.")

    @display(description=lazy("permission"))
    def permission_name(self, row: Any) -> str:
        """Return the permission's name: READ, WRITE, EXECUTE or DELETE."""
        return str(row.permission.codename.removesuffix("_workflow").upper())

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of an object permission: its workflow and its name."""
        known = [
            (gettext("Workflow"), self.workflow(obj)),
            (gettext("Permission"), self.permission_name(obj)),
        ]
        return Page([str(obj)], facts(known))

    @display(description=lazy("workflow"))
    def workflow(self, row: Any) -> Any:
        """Return a link to the workflow's page."""
        return links.to("executions_workflow", row.content_object_id, row.content_object)


@admin.register(WorkflowUserPermission)
class UserGrantAdmin(GrantAdmin):
    """Object permissions of users on workflows."""

    operations = (taking_back(WorkflowUserPermission),)
    list_display = ("user", "permission_name", "workflow")
    list_select_related = ("content_object", "permission", "user")
    list_defer = ("content_object__definition",)
    list_display_links = None
    search_texts = (name_path(), "content_object__name")


@admin.register(WorkflowGroupPermission)
class GroupGrantAdmin(GrantAdmin):
    """Object permissions of groups on workflows."""

    operations = (taking_back(WorkflowGroupPermission),)
    list_display = ("group", "permission_name", "workflow")
    list_select_related = ("content_object", "permission", "group")
    list_defer = ("content_object__definition",)
    list_display_links = None
    search_texts = ("group__name", "content_object__name")
