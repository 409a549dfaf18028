"""The base of our admins: scoped to the person's workspaces, bounded, read-only where needed."""

from typing import Any
from uuid import UUID

from django.contrib.admin import ShowFacets
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse

from executions.access import Action
from executions.access.table import Power
from executions.admin.audited import AuditedAdmin
from executions.admin.changelist import BoundedChangeList
from executions.admin.paginator import BoundedPaginator
from executions.admin.scope import holds, may, scoped
from executions.admin.sections import Page
from executions.models import Workspace


class ScopedAdmin(AuditedAdmin):
    """Shows the rows of the person's workspaces, 25 a page, without exact counts."""

    list_per_page = 25
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # each would be a count of the whole table
    paginator = BoundedPaginator
    list_fullwidth = True
    compressed_fields = True
    # What a list does not show and should not load: JSON and long text.
    list_defer: tuple[str, ...] = ()
    # The look-up to the workspace's id where the model's foreign keys do not tell.
    workspace_path = ""
    # What the person's powers must include to see the rows at all, and to add or change them.
    needs: Power = Action.VIEW
    edits: Power = Action.ADMINISTER
    # Rows of no workspace: Django's own permissions decide who sees and changes them.
    shared = False
    # An id is looked for in these, other text in those (lists search nothing else).
    search_ids: tuple[str, ...] = ()
    search_texts: tuple[str, ...] = ()
    # And 32 hexadecimal digits in these too: a trace's id looks like an id without its dashes.
    search_traces: tuple[str, ...] = ()

    # What an empty list says, and what to do about it.
    empty_text = "Nothing here yet."

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[BoundedChangeList]:
        """Lists that count up to a bound."""
        return BoundedChangeList

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """Whether there is a search box at all."""
        return self.search_ids + self.search_texts

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Rows with that id, or with that text within a text column."""
        term = search_term.strip()
        if not term:
            return queryset, False
        try:
            wanted: dict[str, UUID | str] = {name: UUID(term) for name in self.search_ids}
            wanted |= {name: UUID(term).hex for name in self.search_traces}
        except ValueError:
            wanted = {f"{name}__icontains": term for name in self.search_texts}
        if not wanted:
            return queryset.none(), False
        return queryset.filter(Q(*wanted.items(), _connector=Q.OR)), False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """As Django's; filters and selections that cannot be asked of the database are a 400."""
        if any("\x00" in value for values in request.GET.lists() for value in values[1]):
            raise BadRequest("A filter holds a NUL character.")
        try:
            answer: HttpResponse = super().changelist_view(request, extra_context)
        except ValidationError as error:
            raise BadRequest(" ".join(error.messages)) from None
        return answer

    def scope(self, request: HttpRequest, rows: QuerySet[Any], action: Power) -> QuerySet[Any]:
        """The rows on which the person may do `action`."""
        return scoped(request, rows, action, self.workspace_path)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows the person may see; lists leave big columns in the database."""
        rows = self.scope(request, super().get_queryset(request), self.needs)
        match = request.resolver_match
        is_list = match is not None and (match.url_name or "").endswith("_changelist")
        return rows.defer(*self.list_defer) if is_list and self.list_defer else rows

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Whether the list is offered at all."""
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Who may see this row, or any."""
        return self._may(request, obj, self.needs, "view")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Who may add rows in some workspace."""
        return self._may(request, None, self.edits, "add")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Who may change this row, or any."""
        return self._may(request, obj, self.edits, "change")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Who may delete this row, or any."""
        return self._may(request, obj, self.edits, "delete")

    def _may(self, request: HttpRequest, obj: Any, power: Power, verb: str) -> bool:
        if self.shared:
            opts = self.model._meta
            return bool(request.user.has_perm(f"{opts.app_label}.{verb}_{opts.model_name}"))
        return holds(request, power) if obj is None else may(request, obj, power)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Only workspaces in which the person may add such rows can be chosen."""
        if db_field.related_model is Workspace:
            rows = Workspace.objects.filter(archived_at=None)
            kwargs["queryset"] = scoped(request, rows, self.edits, "id")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_or_refuse(self, request: HttpRequest, object_id: str) -> Any:
        """The object, or PermissionDenied when there is none that the person may see."""
        found = self.get_object(request, object_id)
        if found is None:
            raise PermissionDenied(f"There is no such {self.opts.verbose_name}, or not for you.")
        return found


class FactAdmin(ScopedAdmin):
    """Rows that the engine owns: a list and a page of facts; no add, no change, no delete."""

    change_form_before_template = "valkyr/facts.html"
    # Big tables are read in the order of their key; sorting by another column reads all of one.
    sortable_by = ()
    actions_selection_counter = True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody adds these by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody edits these by hand."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They go by retention alone."""
        return False

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """The page shows facts, not form fields."""
        return []

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """What the object's page says."""
        raise NotImplementedError

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Model | None = None,
    ) -> HttpResponse:
        """Give the template the page's facts."""
        if obj is not None:
            context["page"] = self.page(request, obj)
            context["title"] = f"{str(self.opts.verbose_name).capitalize()}"
        answer: HttpResponse = super().render_change_form(
            request, context, add, change, form_url, obj
        )
        return answer
