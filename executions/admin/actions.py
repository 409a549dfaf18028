"""Turn operations into Django's and Unfold's actions: a bulk bar, row menus and page buttons."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from executions.access.actor import Actor
from executions.access.powers import Power
from executions.admin.base import ScopedAdmin
from executions.admin.changelist import bounded_count
from executions.admin.marks import copyable
from executions.admin.operations import AdminOperation, OperationReport, perform
from executions.admin.scope import holds, may
from executions.admin.skin import UNFOLD, ActionVariant, came_from, dialog

# Maximum number of rows in one bulk request; each is a transaction of a few milliseconds.
BULK_LIMIT = 1_000
# Number of buttons on an object's page that are outside its menu.
OUTSIDE = 2


class OperatingAdmin(ScopedAdmin):
    """Offers `operations` as actions of rows and pages and, if `bulk` is set, of selected rows."""

    operations: ClassVar[tuple[AdminOperation, ...]] = ()
    # Methods that show another page of one object; their buttons precede those of operations.
    views: ClassVar[tuple[str, ...]] = ()

    # The views of other apps, by name: the power that a view needs, and a function that returns
    # whether a row's page offers it.
    offers: ClassVar[Mapping[str, tuple[Power, Callable[[Any], bool]]]] = {}

    def leads_to(self, view: str, row: Any) -> bool:
        """Return whether the row's page has the button of this view; True by default."""
        return True

    def may_open(self, request: HttpRequest, view: str, row: Any) -> bool:
        """Return whether the row's page shows the view's button to this user."""
        if not self.leads_to(view, row):
            return False
        needs, fits = self.offers.get(view, (self.needs, bool))
        return bool(fits(row)) and may(request, row, needs)

    def primary_of(self, row: Any) -> str:
        """Return the name of the page's primary operation for this row; "" for the default."""
        return ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.offer()

    @classmethod
    def offer(cls, *more: AdminOperation) -> None:
        """Add operations, such as those that a higher app adds to the pages of a lower app."""
        # Operations that show secrets come last.
        cls.operations = tuple(sorted((*cls.operations, *more), key=lambda one: one.sensitive))
        names = []
        bulk = []
        for operation in cls.operations:
            name = f"operate_{operation.name}"
            setattr(cls, name, _dialog(operation))
            setattr(cls, f"has_{operation.name}_permission", _permission(operation))
            names.append(name)
            if operation.bulk:
                setattr(cls, f"bulk_{operation.name}", _bulk(operation))
                bulk.append(f"bulk_{operation.name}")
        cls.actions_row = cls.actions_detail = (*cls.views, *names)
        cls.actions = tuple(bulk)

    @classmethod
    def show(
        cls,
        name: str,
        title: str,
        icon: str,
        view: Callable[..., HttpResponse],
        *,
        primary: bool = False,
        needs: Power | None = None,
        fits: Callable[[Any], bool] = bool,
    ) -> None:
        """Add a page of one object at `<id>/<name>/`; `view(admin, request, id)` returns it.

        The object's page has a button for it if `fits(row)` and the user has the power `needs` (if
        None, the permission to view the object). The view itself must check both conditions again.
        """

        def shown(admin: OperatingAdmin, request: HttpRequest, object_id: str) -> HttpResponse:
            return view(admin, request, object_id)

        shown.__name__ = name
        shown.__dict__.update(
            {
                "short_description": title,
                "url_path": name,
                "icon": icon,
                "variant": ActionVariant.PRIMARY if primary else ActionVariant.DEFAULT,
                "attrs": {},
                "original_function_name": name,
            }
        )
        setattr(cls, name, shown)
        cls.offers = {**cls.offers, name: (needs or cls.needs, fits)}
        cls.views = (*cls.views, name)
        cls.offer()

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        """Return the page's buttons for views and operations that are possible and allowed."""
        row = self.get_object(request, str(object_id))
        can = {
            f"operate_{op.name}"
            for op in self.operations
            if row and not op.operation.refuse(row) and self.may_operate(request, op, row)
        } | {name for name in self.views if row and self.may_open(request, name, row)}
        offered = super().get_actions_detail(request, object_id)
        return [action for action in offered if action.method.original_function_name in can]

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Show the page with its buttons; with Unfold, put all but two of them into a menu."""
        buttons = context.get("actions_detail") or []
        if row := context.get("original"):
            buttons = with_primary(buttons, self.primary_of(row))
        context["actions_detail"] = with_menu(buttons) if UNFOLD else buttons
        answer: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return answer

    def may_operate(self, request: HttpRequest, operation: AdminOperation, row: Any = None) -> bool:
        """Return whether the user may perform the operation on the row (None: at least one row)."""
        if row is None:
            return holds(request, operation.needs)
        return may(request, row, operation.needs)

    def tell(
        self, request: HttpRequest, operation: AdminOperation, report: OperationReport
    ) -> None:
        """Store the report as a message for the next page."""
        if report.skipped:
            level = messages.WARNING if report.done else messages.ERROR
        else:
            level = messages.SUCCESS
        self.message_user(request, report.sentence(operation), level)


def _permission(operation: AdminOperation) -> Callable[..., bool]:
    """Return the check that Django uses to decide whether to offer the operation."""

    def permitted(admin: OperatingAdmin, request: HttpRequest, obj: Any = None) -> bool:
        return admin.may_operate(request, operation)

    return permitted


def _dialog(operation: AdminOperation) -> Callable[..., HttpResponse]:
    def operate(admin: OperatingAdmin, request: HttpRequest, object_id: str) -> HttpResponse:
        row = admin.get_or_refuse(request, object_id)
        if not admin.may_operate(request, operation, row):
            raise PermissionDenied(
                gettext("Your role in this workspace does not allow the action “{title}”.").format(
                    title=operation.title.rstrip("…")
                )
            )
        form = operation.form(data=request.POST or None, request=request, object_id=object_id)
        if request.method == "POST" and form.is_valid():
            report = perform(operation, [row.pk], Actor.of_request(request), form.cleaned_data)
            if operation.shows and report.done:
                return _shown(admin, request, operation, row, report)
            admin.tell(request, operation, report)
            return _leave(admin, request, operation, report, row.pk)
        words = {
            "title": f"{operation.title.rstrip('…')}: {row}",
            "description": operation.question,
            "form_submit_text": operation.title.rstrip("…"),
            "danger": operation.danger,
        }
        context = {"dialog": words, "form": form, "refusal": operation.operation.refuse(row)}
        return dialog(admin, request, context)

    operate.__name__ = f"operate_{operation.name}"
    marks = {
        "allowed_permissions": (operation.name,),
        "short_description": operation.title,
        "url_path": operation.name.replace("_", "-"),
        "icon": operation.icon,
        "dialog": {"title": operation.title},
        "sensitive": operation.sensitive,
        "variant": _variant(operation),
        "attrs": {},
        "original_function_name": operate.__name__,
    }
    operate.__dict__.update(marks)
    return operate


def _variant(operation: AdminOperation) -> Any:
    if operation.primary:
        return ActionVariant.PRIMARY
    return ActionVariant.DANGER if operation.danger else ActionVariant.DEFAULT


def with_primary(buttons: Iterable[Mapping[str, Any]], name: str) -> Iterable[Mapping[str, Any]]:
    """Return a page's buttons; if `name` is given, only that operation's button is primary."""
    if not name:
        return buttons
    chosen = {True: ActionVariant.PRIMARY, False: ActionVariant.DEFAULT}
    found = []
    for button in buttons:
        first = button["path"].endswith(f"/{name}/")
        replaced = first or button.get("variant") == ActionVariant.PRIMARY
        variant = {"variant": chosen[first]} if replaced else {}
        found.append({**button, **variant, "primary": first})
    return found


def with_menu(buttons: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the buttons of a page: a primary button, a second button, and a menu of the rest.

    `buttons` are the buttons of Unfold, in order; the first with the variant PRIMARY becomes the
    first button.
    """
    ordered = sorted(buttons, key=lambda button: button["variant"] != ActionVariant.PRIMARY)
    outside: list[Mapping[str, Any]] = [
        {**button, "variant": ActionVariant.DEFAULT if place else button["variant"]}
        for place, button in enumerate(ordered[:OUTSIDE])
    ]
    if len(ordered) <= OUTSIDE:
        return outside
    menu = {
        "title": gettext("More"),
        "method_name": "more",
        "variant": ActionVariant.DEFAULT,
        "items": ordered[OUTSIDE:],
    }
    return [*outside, menu]


def _shown(
    admin: OperatingAdmin,
    request: HttpRequest,
    operation: AdminOperation,
    row: Any,
    report: OperationReport,
) -> HttpResponse:
    """Show the result only in the dialog: a message would be stored until the next page."""
    words = {"title": f"{operation.shows}: {row}"}
    result = report.result
    shown = result if isinstance(result, SafeString) else copyable(result)
    return dialog(admin, request, {"dialog": words, "shown": shown})


def _leave(
    admin: OperatingAdmin,
    request: HttpRequest,
    operation: AdminOperation,
    report: OperationReport,
    pk: UUID,
) -> HttpResponse:
    """Redirect to the operation's next page, otherwise to the dialog's opener or the row's page."""
    if operation.destination is not None and report.done:
        target = operation.destination(report.result)
    else:
        target = came_from(request) or reverse(
            f"admin:{admin.opts.app_label}_{admin.opts.model_name}_change", args=[pk]
        )
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": target})
    return HttpResponseRedirect(target)


def _bulk(operation: AdminOperation) -> Callable[..., HttpResponse | None]:
    def bulk(
        admin: OperatingAdmin, request: HttpRequest, queryset: QuerySet[Any]
    ) -> HttpResponse | None:
        confirmed = "confirmed" in request.POST
        rows = admin.scope(request, queryset, operation.needs).order_by("pk")
        if newest := request.POST.get("newest"):
            rows = rows.filter(pk__lte=_uuid_or_refuse(newest))
        form = operation.form(data=request.POST if confirmed else None, request=request)
        if confirmed and form.is_valid():
            ids = list(rows.values_list("pk", flat=True)[: BULK_LIMIT + 1])
            report = perform(
                operation, ids[:BULK_LIMIT], Actor.of_request(request), form.cleaned_data
            )
            admin.tell(request, operation, report)
            if len(ids) > BULK_LIMIT:
                text = gettext(
                    "Only the oldest {limit:,} were processed. Repeat the action for the rest."
                ).format(limit=BULK_LIMIT)
                admin.message_user(request, text, messages.WARNING)
            return None
        return TemplateResponse(
            request,
            "valkyr/confirm.html",
            _question(admin, request, operation, rows, form),
        )

    bulk.__name__ = f"bulk_{operation.name}"
    bulk.__dict__.update(
        {"allowed_permissions": (operation.name,), "short_description": operation.title}
    )
    return bulk


def newest_of(request: HttpRequest, rows: QuerySet[Any]) -> UUID | None:
    """Return the ID of the row that was newest when the dialog opened; None if there was none."""
    given = request.POST.get("newest")
    if given:
        return _uuid_or_refuse(given)
    found: UUID | None = rows.order_by("-pk").values_list("pk", flat=True).first()
    return found


def _uuid_or_refuse(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise PermissionDenied(f"newest is {text!r}; expected an id.") from None


def _question(
    admin: OperatingAdmin,
    request: HttpRequest,
    operation: AdminOperation,
    rows: QuerySet[Any],
    form: Any,
) -> dict[str, Any]:
    count = bounded_count(rows)
    return {
        **admin.admin_site.each_context(request),
        "title": operation.title.rstrip("…"),
        "opts": admin.opts,
        "operation": operation,
        "form": form,
        "count": count,
        "limit": BULK_LIMIT,
        "examples": rows[:5],
        "noun": admin.opts.verbose_name if count == 1 else admin.opts.verbose_name_plural,
        "action_name": f"bulk_{operation.name}",
        "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
        "select_across": request.POST.get("select_across", "0"),
        "checkbox_name": ACTION_CHECKBOX_NAME,
        # Excludes rows that are added while the user reads the question.
        "newest": newest_of(request, rows) or "",
    }
