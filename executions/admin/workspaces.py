"""Workspaces, and tiers, which are the limits of workspaces."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.access.powers import Power
from executions.accounts import workspaces
from executions.admin import links, marks, sealing
from executions.admin.actions import OperatingAdmin
from executions.admin.base import WritingAdmin
from executions.admin.operations import AdminOperation
from executions.admin.scope import is_superuser
from executions.admin.skin import Textarea, display
from executions.egress.rules import problems_of
from executions.language import lazy
from executions.models import Tier, Workspace


def _archive(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Workspace:
    return workspaces.archive_workspace(pk, actor=actor, reason=data["reason"])


def _restore(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Workspace:
    return workspaces.restore_workspace(pk, actor=actor, reason=data["reason"])


def _delete_tier(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    workspaces.delete_tier(pk, actor=actor, reason=data["reason"])


ARCHIVE = AdminOperation(
    Operation(
        name="archive",
        apply=_archive,
        needs=Action.ADMINISTER,
        refuse=lambda row: gettext("Already archived.") if row.archived_at else "",
    ),
    title=lazy("Archive…"),
    icon="archive",
    done=lazy("archived"),
    question=lazy(
        "The workspace accepts no new executions, and its schedules pause. Existing executions "
        "continue, and all data is kept. You can restore the workspace."
    ),
    danger=True,
    bulk=False,
)
RESTORE = AdminOperation(
    Operation(
        name="restore",
        apply=_restore,
        needs=Action.ADMINISTER,
        refuse=lambda row: "" if row.archived_at else gettext("Not archived."),
    ),
    title=lazy("Restore…"),
    icon="unarchive",
    done=lazy("restored"),
    question=lazy(
        "Executions can start in the workspace again. Schedules do not catch up on missed times."
    ),
    bulk=False,
)
DELETE_TIER = AdminOperation(
    Operation(
        name="delete_tier",
        apply=_delete_tier,
    ),
    title=lazy("Delete…"),
    icon="delete",
    done=lazy("deleted"),
    question=lazy("You can delete a tier only if no workspace uses it."),
    danger=True,
    bulk=False,
    destination=lambda _: links.listing("executions_tier"),
)


class RootAdmin(OperatingAdmin, WritingAdmin):
    """Pages on which only superusers may add rows and perform operations."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow only superusers to add rows."""
        return is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Forbid deletion here: Django's page records no reason in the audit trail."""
        return False

    def may_operate(self, request: HttpRequest, operation: AdminOperation, row: Any = None) -> bool:
        """Allow only superusers to perform operations."""
        return is_superuser(request)


class WorkspaceForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """The form of a workspace, with one egress rule per line."""

    egress = forms.CharField(
        required=False,
        label=lazy("Egress rules"),
        help_text=lazy(
            "Hosts that steps can connect to, one per line: api.example.com, *.example.com, "
            "10.0.0.0/8, with or without a port; * for any host. Leave empty to use the "
            "installation's list. A change applies to steps that start more than 5 s later."
        ),
        widget=Textarea(attrs={"rows": 5, "autocomplete": "off", "spellcheck": "false"}),
    )

    class Meta:
        model = Workspace
        fields = ("name", "slug", "tier", "publish_from_git")
        labels = {"publish_from_git": lazy("Publish from Git only")}
        help_texts = {
            "publish_from_git": lazy(
                "Users can edit drafts and test them. Only “valkyr apply”, with the permission "
                "to apply definitions, publishes and archives workflows."
            )
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["egress"] = "\n".join(self.instance.egress_hosts)

    def clean_egress(self) -> list[str]:
        """Return the egress entries. Raises ValidationError for invalid entries."""
        hosts: list[str] = self.cleaned_data["egress"].split()
        found = problems_of(hosts)
        if found:
            raise forms.ValidationError([problem.message for problem in found])
        return hosts


@admin.register(Workspace)
class WorkspaceAdmin(RootAdmin):
    """Workspaces: administrators change their own; superusers create and archive workspaces."""

    sensitive = True
    form = WorkspaceForm
    operations = (sealing.SEAL, sealing.ROTATE, sealing.STOP, ARCHIVE, RESTORE)
    list_display = ("name", "slug", "tier", "standing", "members", "programs", "made")
    list_select_related = ("tier",)
    search_ids = ("id",)
    search_texts = ("name", "slug")
    workspace_path = "id"
    needs = Action.ADMINISTER
    empty_text = lazy("No workspaces that you administer.")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the fields of a workspace's page; a new workspace has fewer."""
        known = ("name", "slug", "tier")
        return (
            known
            if obj is None
            else (
                *known,
                "egress",
                "publish_from_git",
                "standing",
                "payloads",
                "members",
                "programs",
                "made",
            )
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Keep the slug read-only, and the tier too unless the user is a superuser."""
        if obj is None:
            return ()
        shown = ("slug", "standing", "payloads", "members", "programs", "made")
        return shown if is_superuser(request) else ("tier", *shown)

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> Workspace:
        """Create the workspace, or change its name, tier, egress rules and publishing from Git."""
        actor, data = Actor.of_request(request), form.cleaned_data
        if change:
            changes = {name: data[name] for name in ("name", "tier") if name in data}
            if "egress" in data:
                changes["egress_hosts"] = data["egress"]
            if "publish_from_git" in data:
                changes["publish_from_git"] = data["publish_from_git"]
            return workspaces.change_workspace(obj.pk, changes, actor=actor)
        return workspaces.create_workspace(
            data["name"], data["tier"], actor=actor, slug=data["slug"]
        )

    @display(description=lazy("state"))
    def standing(self, row: Workspace) -> Any:
        """Return a mark that says whether executions can start in the workspace."""
        if row.archived_at is None:
            return marks.mark(gettext("active"), "door_open", "green")
        return marks.mark(gettext("archived"), "archive", "grey")

    @display(description=lazy("payloads"))
    def payloads(self, row: Workspace) -> Any:
        """Return a mark that says whether new payloads are sealed in the database."""
        if sealing.seals(row):
            return marks.mark(gettext("sealed"), "key", "green")
        return marks.mark(gettext("in the clear"), "key_off", "grey")

    @display(description=lazy("members"))
    def members(self, row: Workspace) -> Any:
        """Return a link to the workspace's members."""
        return links.link(
            links.listing("executions_membership", workspace=row.pk), gettext("members")
        )

    @display(description=lazy("service accounts"))
    def programs(self, row: Workspace) -> Any:
        """Return a link to the workspace's service accounts."""
        address = links.listing("executions_serviceaccount", workspace=row.pk)
        return links.link(address, gettext("service accounts"))

    @display(description=lazy("created"))
    def made(self, row: Workspace) -> Any:
        """Return the time since the workspace was created."""
        return marks.ago(row.created_at)


@admin.register(Tier)
class TierAdmin(RootAdmin):
    """Tiers: the limits of workspaces; an empty limit means unlimited."""

    shared = True
    operations = (DELETE_TIER,)
    list_display = ("name", "max_concurrent", "max_pending", "max_per_hour", "max_per_day")
    search_texts = ("name",)
    fields = ("name", *workspaces.LIMITS)
    empty_text = lazy("No tiers. Create a tier before you add a workspace.")

    def scope(self, request: HttpRequest, rows: QuerySet[Any], action: Power) -> QuerySet[Any]:
        """Return all tiers; only Django's permissions restrict who can see them."""
        return rows

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow only superusers to change tiers."""
        return is_superuser(request)

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> Tier:
        """Create the tier, or change its name and limits."""
        actor = Actor.of_request(request)
        if change:
            return workspaces.change_tier(obj.pk, form.cleaned_data, actor=actor)
        return workspaces.create_tier(form.cleaned_data, actor=actor)
