"""The base classes of admins: limited to the user's workspaces, bounded, and partly read-only."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin import ModelAdmin as DjangoModelAdmin
from django.contrib.admin import ShowFacets
from django.contrib.admin.options import IS_POPUP_VAR, IncorrectLookupParameters
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.db.models import Model, Q, QuerySet
from django.forms import ModelChoiceField, ModelMultipleChoiceField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext

from executions.access import Action, workspace_id_of
from executions.access.actor import Actor, record
from executions.access.powers import Power
from executions.admin.changelist import BoundedChangeList, BoundedPaginator
from executions.admin.scope import holds, may, scoped
from executions.admin.sections import Page
from executions.admin.skin import MEDIA, TEMPLATES, ModelAdmin
from executions.audit.changes import told
from executions.audit.trail import name_of
from executions.definition.templating.render_guard import guarded
from executions.errors import ValkyrError, WithProblems
from executions.language import lazy
from executions.models import Workspace

# Changes through the admin's forms are recorded in the audit trail, with old and new values.
#
# This does not apply to an admin that overrides `save_model` or `delete_model`: the functions that
# it calls record the change themselves.


_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _scripts(*names: str, **attributes: bool) -> forms.Media:
    files: list[Any] = [forms.Script(f"admin/js/{name}.js", **attributes) for name in names]
    return forms.Media(js=files)


LIST_SCRIPTS = _scripts("core", "actions", defer=True)
# In Django's order. The first four serve a form's links to other objects.
FORM_SCRIPTS = _scripts(
    "vendor/jquery/jquery" + ("" if settings.DEBUG else ".min"),
    "jquery.init",
    "core",
    "admin/RelatedObjectLookups",
    "actions",
)


_DjangosAdmin: Any = DjangoModelAdmin  # untyped, as in `skin`


class FewerScripts(_DjangosAdmin):
    """Loads fewer of Django's scripts if no field of a form is prepopulated."""

    scripts = FORM_SCRIPTS

    @property
    def media(self) -> forms.Media:
        """Return all scripts of Django's forms, or fewer if no field is prepopulated."""
        all_of_them: forms.Media = super().media
        return all_of_them if self.prepopulated_fields else self.scripts


class AuditedAdmin(ModelAdmin, FewerScripts):
    """Records in the audit trail which rows its forms and lists add, change and delete."""

    # Whether its forms change permissions or contain secrets, and so require a recent sign-in.
    sensitive = False

    @property
    def media(self) -> forms.Media:
        """Return the styles and scripts of the admin site and of Valkyr's pages."""
        both: forms.Media = super().media + MEDIA
        return both

    @property
    def urls(self) -> Any:
        """Return the admin's URLs; their views cannot render templates of workflows."""
        found = super().urls
        for route in found:
            route.callback = guarded(route.callback)
        return found

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Save the related objects; audit inline rows and, unless `save_model` does, the object."""
        super().save_related(request, form, formsets, change)
        if not _overrides(self, "save_model"):
            actor = Actor.of_request(request)
            if not change:
                note(actor, "create", form.instance, after=_values(form, form.cleaned_data))
            elif form.changed_data:
                before = {name: _initial(form, name) for name in form.changed_data}
                after = _values(form, form.cleaned_data)
                note(actor, "update", form.instance, before=_values(form, before), after=after)
        for formset in formsets:
            _note_inlines(Actor.of_request(request), formset)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete the object, and record the deletion in the audit trail."""
        note(Actor.of_request(request), "delete", obj, before=_row(obj))
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete the rows, and record each deletion in the audit trail."""
        for obj in queryset:
            note(Actor.of_request(request), "delete", obj, before=_row(obj))
        super().delete_queryset(request, queryset)


def note(
    actor: Actor,
    verb: str,
    row: Model,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Record that a user performed the action `verb` on a row in the admin, with the values."""
    name = name_of(type(row))
    record(
        actor,
        f"{_WORD.sub('_', name).lower()}.{verb}",
        workspace_id=_workspace(row),
        object_type=name,
        object_id=row.pk,
        before=None if before is None else told(before),
        after=None if after is None else told(after),
    )


def _overrides(admin: Any, method: str) -> bool:
    ours: Any = getattr(type(admin), method)
    return ours not in (getattr(ModelAdmin, method), getattr(DjangoModelAdmin, method))


def _values(form: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changed fields for the audit trail, with the names of referenced rows."""
    return {name: _called(values.get(name)) for name in form.changed_data}


def _initial(form: Any, name: str) -> Any:
    """Return a field's earlier value; for a reference, return the row instead of its key."""
    value, field = form.initial.get(name), form.fields.get(name)
    single = isinstance(field, ModelChoiceField) and not isinstance(field, ModelMultipleChoiceField)
    if single and value is not None:
        return field.queryset.filter(pk=value).first() or value
    return value


def _called(value: Any) -> Any:
    if isinstance(value, bytes | memoryview):
        return gettext("({count:,} bytes)").format(count=len(value))
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        return [_called(inner) for inner in value]
    return str(value) if isinstance(value, Model | UUID) else value


def _row(row: Model) -> dict[str, Any]:
    return {field.name: _called(field.value_from_object(row)) for field in row._meta.fields}


def _workspace(row: Model) -> UUID | None:
    try:
        return workspace_id_of(row)
    except TypeError:
        return None


def _note_inlines(actor: Actor, formset: Any) -> None:
    for row in formset.new_objects:
        note(actor, "create", row, after=_row(row))
    for row, fields in formset.changed_objects:
        note(actor, "update", row, after={name: _called(getattr(row, name)) for name in fields})
    for row in formset.deleted_objects:
        note(actor, "delete", row, before=_row(row))


class ScopedAdmin(AuditedAdmin):
    """Shows the rows of the user's workspaces, 25 per page, without exact counts."""

    list_per_page = 25
    list_max_show_all = 0
    show_full_result_count = False
    show_facets = ShowFacets.NEVER  # each facet would count the whole table
    paginator = BoundedPaginator
    list_before_template = "valkyr/cells.html"
    list_fullwidth = True
    compressed_fields = True
    # Fields that a list does not show, and does not load because they are large: JSON and long
    # text.
    list_defer: tuple[str, ...] = ()
    # The lookup path to the workspace's ID, if it cannot be derived from the model's foreign keys.
    workspace_path = ""
    # The powers that a user needs to view rows, and to add or change them.
    needs: Power = Action.VIEW
    edits: Power = Action.ADMINISTER
    # Whether the rows have no workspace, so that Django's own permissions apply.
    shared = False
    # Fields that are searched for an ID, and fields that are searched for other text.
    search_ids: tuple[str, ...] = ()
    search_texts: tuple[str, ...] = ()
    # Fields that are also searched for 32 hexadecimal digits: a trace's ID, which has the form of
    # an ID without dashes.
    search_traces: tuple[str, ...] = ()

    # The texts of an empty list: what to do, what the rows are, and links (text, name of a URL).
    empty_text = lazy("Nothing here yet.")
    empty_about = ""
    empty_links: tuple[tuple[str, str], ...] = ()
    # Filters with which a list counts as unfiltered, such as the filter of a side bar entry.
    whole_lists: tuple[Mapping[str, str], ...] = ({},)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[BoundedChangeList]:
        """Return the class of the list, which counts rows up to a limit."""
        return BoundedChangeList

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        """Return the columns to search; if there are none, the list has no search box."""
        return self.search_ids + self.search_texts

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Return the rows with the term as an ID or in a text column, and False (no duplicates)."""
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
        """Show the list as Django does; respond with 400 to invalid filters and selections."""
        _check_filters(request)
        try:
            answer: HttpResponse = super().changelist_view(request, extra_context)
        except ValidationError as error:
            raise BadRequest(" ".join(error.messages)) from None
        return answer

    def filtered(self, request: HttpRequest) -> Any:
        """Return the list with the URL's filters. Raises BadRequest for invalid filters."""
        _check_filters(request)
        try:
            return self.get_changelist_instance(request)
        except (IncorrectLookupParameters, ValidationError):
            raise BadRequest(
                f"The address has an invalid filter: {request.GET.urlencode()[:200]!r}. Open the "
                "list, and choose the filters there."
            ) from None

    def scope(self, request: HttpRequest, rows: QuerySet[Any], action: Power) -> QuerySet[Any]:
        """Return the rows on which the user has the power `action`."""
        return scoped(request, rows, action, self.workspace_path)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows that the user may see; omit large columns in lists."""
        rows = self.scope(request, super().get_queryset(request), self.needs)
        match = request.resolver_match
        is_list = match is not None and (match.url_name or "").endswith("_changelist")
        return rows.defer(*self.list_defer) if is_list and self.list_defer else rows

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Return whether the user may open the list."""
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user may see this row (None: at least one row)."""
        return self._may(request, obj, self.needs, "view")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user has `edits` on any object; if `shared`, Django's permission."""
        return self._may(request, None, self.edits, "add")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user may change this row (None: at least one row)."""
        return self._may(request, obj, self.edits, "change")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return whether the user may delete this row (None: at least one row)."""
        return self._may(request, obj, self.edits, "delete")

    def _may(self, request: HttpRequest, obj: Any, power: Power, verb: str) -> bool:
        if self.shared:
            opts = self.model._meta
            return bool(request.user.has_perm(f"{opts.app_label}.{verb}_{opts.model_name}"))
        return holds(request, power) if obj is None else may(request, obj, power)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer only active workspaces in which the user may add rows."""
        if db_field.related_model is Workspace:
            rows = Workspace.objects.filter(archived_at=None)
            kwargs["queryset"] = scoped(request, rows, self.edits, "id")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_or_refuse(self, request: HttpRequest, object_id: str) -> Any:
        """Return the object. Raises PermissionDenied if it is missing or hidden from the user."""
        found = self.get_object(request, object_id)
        if found is None:
            raise PermissionDenied(
                gettext("This {verbose_name} does not exist, or you do not have access.").format(
                    verbose_name=self.opts.verbose_name
                )
            )
        return found


class FactAdmin(ScopedAdmin):
    """Shows rows that the engine owns, in a list and on read-only pages."""

    scripts = LIST_SCRIPTS
    change_form_template = TEMPLATES["facts"]
    change_form_outer_before_template = "valkyr/facts.html"
    # Not sortable: large tables are read in the order of their key, and sorting by another column
    # would read the whole table.
    sortable_by = ()
    actions_selection_counter = True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Forbid adding rows manually."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Forbid editing rows manually."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Forbid deletion here; only the engine, retention or an operation deletes these rows."""
        return False

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return no fieldsets, because the page shows facts instead of form fields."""
        return []

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list; in a form's popup, load the scripts that return the selected row."""
        more = {"media": self.media + FORM_SCRIPTS} if IS_POPUP_VAR in request.GET else {}
        return super().changelist_view(request, {**more, **(extra_context or {})})

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the content of the object's page; each subclass implements it."""
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
        """Show the object's page with the content and title that `page` returns."""
        if obj is not None:
            page: Page = self.page(request, obj)
            obj.page_title = page.title  # type: ignore[attr-defined]
            context["page"] = page
            context["title"] = str(self.opts.verbose_name).capitalize()
            if page.title:
                context |= {"title": page.title, "subtitle": None}
        answer: HttpResponse = super().render_change_form(
            request, context, add, change, form_url, obj
        )
        return answer


# Forms that write through the same functions as the API, and show the errors of these functions.


class WritingAdmin(ScopedAdmin):
    """Lets users add and change rows in a form, which calls `write`.

    The function that `write` calls also writes the audit trail.
    """

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> Any:
        """Create or change the row, and return it. Raises ValkyrError."""
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save with `write`; the next page and the message use the returned row."""
        obj.__dict__ |= self.write(request, obj, form, change).__dict__

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Show the form as Django does; report rejected changes as messages."""
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ValkyrError as error:
            found = error.problems if isinstance(error, WithProblems) else []
            text = " ".join(problem.message for problem in found) or error.message
            self.message_user(request, text, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())


def _check_filters(request: HttpRequest) -> None:
    if any("\x00" in value for values in request.GET.lists() for value in values[1]):
        raise BadRequest("A filter holds a NUL character.")
