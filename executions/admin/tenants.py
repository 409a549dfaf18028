"""Workspaces, their tiers and their members: edited here by administrators."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from executions.access import Action
from executions.admin.engine import ScopedAdmin
from executions.admin.scope import scoped
from executions.models import Membership, Tier, Workspace


@admin.register(Workspace)
class WorkspaceAdmin(ScopedAdmin):
    """Tenants; one with executions can be archived but not deleted."""

    list_display = ("name", "slug", "tier", "created_at", "archived_at")
    list_select_related = ("tier",)
    list_filter = ("tier",)
    search_texts = ("name", "slug")
    fields = ("name", "slug", "tier", "archived_at")
    readonly_fields = ("archived_at",)
    workspace_path = "id"
    needs = Action.ADMINISTER

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Workspaces are archived, never deleted."""
        return False


@admin.register(Tier)
class TierAdmin(ScopedAdmin):
    """Limits; an empty one means none."""

    list_display = ("name", "max_concurrent", "max_pending", "max_per_hour", "max_per_day")
    search_texts = ("name",)

    def scope(self, request: HttpRequest, rows: QuerySet[Any], action: Action) -> QuerySet[Any]:
        """Tiers belong to nobody; Django's permissions decide."""
        return rows


@admin.register(Membership)
class MembershipAdmin(ScopedAdmin):
    """Who may do what in which workspace."""

    list_display = ("user", "workspace", "role", "created_at")
    list_select_related = ("user", "workspace")
    list_filter = ("role",)
    search_texts = ("user__username", "workspace__slug")
    fields = ("user", "workspace", "role")
    needs = Action.ADMINISTER

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Only workspaces that the person administers can be chosen."""
        if db_field.name == "workspace":
            kwargs["queryset"] = scoped(request, Workspace.objects.all(), Action.ADMINISTER, "id")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)
