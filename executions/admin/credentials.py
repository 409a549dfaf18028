"""The admin pages of credentials, which never show a value.

Authors see the names of credentials, and users with the permission to configure set the values.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from executions import credentials
from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.admin import credential_uses, links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.base import WritingAdmin
from executions.admin.credential_forms import CredentialForm, form_for, inputs_of
from executions.admin.operations import AdminOperation, ReasonForm
from executions.admin.sections import Page
from executions.admin.skin import display
from executions.credentials import KINDS
from executions.credentials.boundary import ANY
from executions.credentials.opening import BOUNDARY
from executions.credentials.writing import MOST_LISTED
from executions.language import lazy
from executions.models import Credential
from executions.states import Permission

# The fields shown to users who may not change the credential.
SHOWN = ("goes_to", "for_modules", "for_workflows", "for_remote")


def _delete(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    credentials.delete(pk, actor=actor, reason=data["reason"])


DELETE = AdminOperation(
    Operation(
        name="remove",
        apply=_delete,
        needs=Permission.CONFIGURE,
    ),
    title=lazy("Delete…"),
    icon="delete",
    done=lazy("deleted"),
    question=lazy(
        "Deletes the values permanently. A credential that a published workflow uses cannot be "
        "deleted."
    ),
    form=ReasonForm,
    danger=True,
    bulk=False,
    destination=lambda nothing: links.listing("executions_credential"),
)


class ReachFilter(admin.SimpleListFilter):
    """Filter credentials by their hosts: any host, or restricted to some hosts or none."""

    title = lazy("allowed hosts")
    parameter_name = "reach"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return both choices: any host, or restricted."""
        return [("any", gettext("any host")), ("named", gettext("restricted"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the credentials that allow any host, or that do not, as chosen; all by default."""
        match self.value():
            case "any":
                return queryset.filter(hosts__contains=[ANY])
            case "named":
                return queryset.exclude(hosts__contains=[ANY])
        return queryset


@admin.register(Credential)
class CredentialAdmin(OperatingAdmin, WritingAdmin):
    """The credentials of workspaces; their values can be entered but are never shown."""

    sensitive = True
    operations = (DELETE,)
    needs = Action.AUTHOR
    edits = Permission.CONFIGURE
    list_display = (
        "name", "type", "connection", "workspace", "field_names", "goes_to", "used", "changed",
    )  # fmt: skip
    list_select_related = ("workspace",)
    list_filter = ("type", ReachFilter)
    list_defer = ("sealed",)
    search_ids = ("id",)
    search_texts = ("name", "workspace__slug")
    empty_text = lazy("No credentials. Add one for each secret that workflows need.")
    empty_about = lazy("Steps refer to credentials by name. Valkyr stores their values encrypted.")
    warn_unsaved_form = True
    change_form_before_template = "valkyr/facts.html"

    @display(description=lazy("fields"))
    def field_names(self, row: Credential) -> str:
        """Return the names of the credential's fields."""
        return marks.clipped(", ".join(row.fields), 60)

    @display(description=lazy("connection"))
    def connection(self, row: Credential) -> Any:
        """Return a mark: connected (with the token's expiry) or not; a dash for other types."""
        known = KINDS.get(row.type)
        connected = known.connected(row.fields) if known and known.connected else None
        if connected is None:
            return marks.EMPTY
        if not connected:
            return marks.mark(gettext("not connected"), "link_off", "amber")
        mark = marks.mark(gettext("connected"), "link", "green")
        if row.issued_until is None:
            return mark
        return format_html("{} {}", mark, _token(row))

    @display(description=lazy("allowed hosts"))
    def goes_to(self, row: Credential) -> Any:
        """Return the credential's hosts; a mark if every host is allowed, or if no host is."""
        if ANY in row.hosts:
            return marks.mark(gettext("any host"), "warning", "amber")
        return marks.clipped(", ".join(row.hosts), 60) or marks.mark(
            gettext("no host"), "block", "red"
        )

    @display(description=lazy("modules"))
    def for_modules(self, row: Credential) -> str:
        """Return the modules that may use the credential."""
        return marks.clipped(", ".join(row.modules), 200)

    @display(description=lazy("workflows"))
    def for_workflows(self, row: Credential) -> str:
        """Return the IDs of the workflows that may use the credential; "*" means every workflow."""
        return marks.clipped(", ".join(row.workflows), 200)

    @display(description=lazy("remote runners"), boolean=True)
    def for_remote(self, row: Credential) -> bool:
        """Return whether remote runners may use the credential."""
        return row.remote

    @display(description=lazy("last used"))
    def used(self, row: Credential) -> Any:
        """Return the time since a step last used the credential, or "never"."""
        return marks.ago(row.last_used_at) if row.last_used_at else gettext("never")

    @display(description=lazy("changed"))
    def changed(self, row: Credential) -> Any:
        """Return the time since the credential was last changed."""
        return marks.ago(row.updated_at)

    @display(description=lazy("created by"))
    def maker(self, row: Credential) -> str:
        """Return the name of the user who created the credential; a dash if it is unknown."""
        return row.created_by or marks.EMPTY

    @display(description=lazy("used by"))
    def named_by(self, row: Credential) -> Any:
        """Return links to published workflows that name the credential; a dash if none does."""
        found = credentials.naming(row)
        pages = [
            (links.to("executions_workflow", one.workflow_id, one.workflow),)
            for one in found[:MOST_LISTED]
        ]
        listed = format_html_join(", ", "{}", pages)
        return (
            listed + gettext(" and others") if len(found) > MOST_LISTED else listed or marks.EMPTY
        )

    @display(description=lazy("type"))
    def kinds(self, row: Credential) -> Any:
        """Return the type of a new credential, and links to the forms of the other types."""
        address = f"{links.listing('executions_credential')}add/"
        others = format_html_join(
            " · ",
            '<a class="vk-link" href="{}?type={}" title="{}">{}</a>',
            (
                (address, kind.name, kind.title, kind.name)
                for kind in KINDS.values()
                if kind.name != row.type
            ),
        )
        mine = KINDS[row.type]
        return format_html("<strong>{}</strong> ({}), or: {}", mine.name, mine.title, others)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """Return the form of the credential's type, which the URL names for a new credential."""
        kwargs["form"] = _form(request, obj)
        return super().get_form(request, obj, change, **kwargs)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Return facts and, for users who may create or change the credential, inputs."""
        inputs = inputs_of(_form(request, obj))
        if obj is None:
            return [
                "workspace", "name", "kinds", "description", *inputs, *BOUNDARY, "version_seen",
            ]  # fmt: skip
        known = [
            "workspace", "name", "type", "connection", "field_names", "named_by", "used", "changed",
            "maker",
        ]  # fmt: skip
        if not self.has_change_permission(request, obj):
            return [*known, *SHOWN, "description"]
        return [*known, "description", *inputs, *BOUNDARY, "version_seen"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Keep facts of an existing credential read-only, such as its name and type."""
        if obj is None:
            return ("kinds",)
        return (
            "workspace", "name", "type", "connection", "field_names", "named_by", "used", "changed",
            "maker", *SHOWN,
        )  # fmt: skip

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the uses of the credential above its form."""
        original = context.get("original")
        if original is not None:
            context["page"] = Page([], [], credential_uses.sections(original))
        answer: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return answer

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Forbid deletion here, because only the operation checks the published workflows."""
        return False

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> Credential:
        """Create the credential, or set its entered values, description and limits."""
        actor, data = Actor.of_request(request), form.cleaned_data
        if not change:
            return credentials.create(
                data["workspace"],
                name=data["name"],
                type=form.kind,
                fields=form.values(),
                description=data["description"],
                actor=actor,
                **form.limits(),
            )
        return credentials.update(
            obj.pk,
            fields=form.values(),
            description=data["description"],
            expected_version=data.get("version_seen"),
            actor=actor,
            **form.limits(),
        )


def _token(row: Credential) -> SafeString:
    """Return, as text, when the credential's token expires or expired."""
    end = row.issued_until
    expired = end is not None and end <= timezone.now()
    text = gettext("token expired {time}") if expired else gettext("token expires {time}")
    return format_html(text, time=marks.ago(end))


def _form(request: HttpRequest, obj: Credential | None) -> type[CredentialForm]:
    if obj is not None:
        # A type that no longer exists, because its module was removed, accepts any fields.
        kind = obj.type if obj.type in KINDS else "custom"
        return form_for(kind, sorted(obj.fields))
    wanted = request.GET.get("type", "")
    return form_for(wanted if wanted in KINDS else "secret", None)
