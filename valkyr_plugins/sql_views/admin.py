"""SQL grants in the admin: the workspaces that each login role of a BI tool can read."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.public.access import Action
from executions.public.admin import FactAdmin, Page, facts, links, marks
from executions.public.admin_skin import display
from executions.public.language import lazy
from valkyr_plugins.sql_views.conf import schema
from valkyr_plugins.sql_views.models import SqlGrant


@admin.register(SqlGrant)
class SqlGrantAdmin(FactAdmin):
    """The grants, read-only: the command `valkyr_views` creates and revokes them."""

    needs = Action.ADMINISTER
    list_display = ("role", "workspace", "created", "by")
    list_display_links = ("role",)
    list_select_related = ("workspace",)
    list_filter = ("workspace",)
    search_ids = ("id",)
    search_texts = ("role",)
    ordering = ("role", "id")
    empty_text = lazy(
        "No SQL grants yet. “manage.py valkyr_views grant NAME --workspace SLUG” creates a login "
        "for a BI tool."
    )

    @display(description=lazy("granted"))
    def created(self, row: SqlGrant) -> Any:
        """Return how long ago the access was granted."""
        return marks.ago(row.created_at)

    @display(description=lazy("granted by"))
    def by(self, row: SqlGrant) -> str:
        """Return the name of the user who granted the access; a dash if it is unknown."""
        return row.created_by_name or marks.EMPTY

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page with the role, its workspace, and the command that revokes the grant."""
        revoke = f"manage.py valkyr_views revoke {obj.role} --workspace {obj.workspace.slug}"
        known = [
            (gettext("Login role"), obj.role),
            (
                gettext("Workspace"),
                links.to("executions_workspace", obj.workspace_id, obj.workspace),
            ),
            (gettext("Schema"), schema()),
            (gettext("Granted"), marks.ago(obj.created_at)),
            (gettext("Granted by"), self.by(obj)),
            (gettext("Command to revoke"), marks.copyable(revoke)),
        ]
        return Page([str(obj)], facts(known))
