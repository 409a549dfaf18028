"""Page parts for Django's own admin: dialogs, filters, and buttons of lists, rows and objects.

They use the same attributes as Unfold's parts, so that each page is written once: `actions_list`,
`actions_row`, `actions_detail`, `list_before_template` and `change_form_outer_before_template`.
Unfold's modals are separate pages here; no page needs a script.
"""

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin import ModelAdmin as DjangoModelAdmin
from django.http import HttpRequest
from django.urls import path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext

from executions.language import lazy


class ActionVariant(enum.Enum):
    """The appearance of a button: primary, destructive, or default."""

    DEFAULT = "default"
    PRIMARY = "primary"
    DANGER = "danger"


@dataclass(frozen=True, slots=True)
class PageAction:
    """A button of a list, row or object; `method` serves `path`, relative to the list or object."""

    action_name: str
    method: Callable[..., Any]
    description: str
    path: str

    @property
    def icon(self) -> str:
        """Return the name of the method's icon; "" if it has none."""
        return str(getattr(self.method, "icon", ""))


def display(
    function: Callable[..., Any] | None = None,
    *,
    label: Any = None,
    header: Any = None,
    dropdown: Any = None,
    image: Any = None,
    **options: Any,
) -> Any:
    """Apply Django's decorator `display`, and ignore the additional arguments of Unfold."""
    return admin.display(function, **options)


class DialogForm(forms.Form):
    """The form of a dialog, with the request and the ID of its object."""

    def __init__(
        self, request: HttpRequest, object_id: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        self.request = request
        self.object_id = object_id
        super().__init__(*args, **kwargs)


class ModelAdmin(DjangoModelAdmin):  # type: ignore[type-arg]
    """Django's admin, with buttons for lists, rows and objects, and templates above pages."""

    change_list_template = "valkyr/plain/change_list.html"
    change_form_template = "valkyr/plain/change_form.html"
    list_before_template: str | None = None
    change_form_outer_before_template: str | None = None
    actions_list: Sequence[str] = ()
    actions_row: Sequence[str] = ()
    actions_detail: Sequence[str] = ()

    def get_urls(self) -> list[Any]:
        """Return the actions' URLs, followed by Django's, the last of which matches every path."""
        wrap = self.admin_site.admin_view
        of_lists = [
            path(f"{action.path}/", wrap(action.method), name=action.action_name)
            for action in self._named(self.actions_list)
        ]
        of_rows = [
            path(f"<path:object_id>/{action.path}/", wrap(action.method), name=action.action_name)
            for action in self._named(dict.fromkeys([*self.actions_row, *self.actions_detail]))
        ]
        return [*of_lists, *of_rows, *super().get_urls()]

    def get_actions_list(self, request: HttpRequest) -> list[PageAction]:
        """Return those buttons of the list that the user may use."""
        return self._permitted(request, self.actions_list)

    def get_actions_row(self, request: HttpRequest) -> list[PageAction]:
        """Return those buttons of a row that the user may use."""
        return self._permitted(request, self.actions_row)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[PageAction]:
        """Return those buttons of one object that the user may use."""
        return self._permitted(request, self.actions_detail, object_id)

    def get_list_display(self, request: HttpRequest) -> Any:
        """Return the columns, with a further column for menus if the rows have actions."""
        columns = super().get_list_display(request)
        offered = self.get_actions_row(request)
        if not offered:
            return columns

        @admin.display(description=lazy("actions"))
        def row_menu(row: Any) -> Any:
            items = ((self._address(action, row.pk), action.description) for action in offered)
            links = format_html_join("", '<li><a href="{}">{}</a></li>', items)
            return format_html(
                '<details class="vk-rows"><summary>{}</summary><ul>{}</ul></details>',
                gettext("Actions"),
                links,
            )

        return (*columns, row_menu)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Show the list as Django does, with its buttons."""
        more = {
            "page_actions": self._buttons(self.get_actions_list(request)),
            "before_template": self.list_before_template,
        }
        return super().changelist_view(request, {**more, **(extra_context or {})})

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        """Show the form as Django does, with the object's buttons."""
        offered = self.get_actions_detail(request, object_id) if object_id else []
        more = {
            "actions_detail": self._buttons(offered, object_id),
            "before_template": self.change_form_outer_before_template,
        }
        return super().changeform_view(
            request, object_id, form_url, {**more, **(extra_context or {})}
        )

    def _buttons(self, actions: list[PageAction], object_id: Any = None) -> list[dict[str, Any]]:
        return [
            {
                "title": action.description,
                "icon": action.icon,
                "path": self._address(action, object_id),
                "primary": getattr(action.method, "variant", None) == ActionVariant.PRIMARY,
            }
            for action in actions
        ]

    def _address(self, action: PageAction, object_id: Any = None) -> str:
        name = f"{self.admin_site.name}:{action.action_name}"
        return reverse(name, args=[] if object_id is None else [object_id])

    def _named(self, names: Any) -> Iterator[PageAction]:
        opts = self.model._meta
        for name in names:
            method = getattr(self, name)
            yield PageAction(
                f"{opts.app_label}_{opts.model_name}_{name}",
                method,
                str(getattr(method, "short_description", name)),
                str(getattr(method, "url_path", name)).removesuffix("/"),
            )

    def _permitted(
        self, request: HttpRequest, names: Any, object_id: Any = None
    ) -> list[PageAction]:
        asked = () if object_id is None else (object_id,)
        return [
            action
            for action in self._named(names)
            if all(
                getattr(self, f"has_{permission}_permission")(request, *asked)
                for permission in getattr(action.method, "allowed_permissions", ())
            )
        ]


# Filters with a text field.


class _TypedFilter:
    """A filter with a small form next to the list; the form keeps the URL's other parameters."""

    template = "valkyr/plain/filter.html"

    def has_output(self) -> bool:
        """Return True: the form is always shown."""
        return True

    def choices(self, changelist: Any) -> Any:
        """Yield the fields of the form, and the URL's other parameters, which the form keeps."""
        names = [name for name, *_ in self.inputs()]
        yield {
            "inputs": self.inputs(),
            "kept": [
                (name, value)
                for name, values in changelist.filter_params.items()
                for value in (values if isinstance(values, list) else [values])
                if name not in names
            ],
            "query": changelist.query,
        }

    def inputs(self) -> list[tuple[str, str, str, str]]:
        """Return the name, type, label and value of each input."""
        raise NotImplementedError


class TextFilter(_TypedFilter, admin.SimpleListFilter):
    """A filter with one text input."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return no choices, because users type the value."""
        return ()

    def inputs(self) -> list[tuple[str, str, str, str]]:
        """Return the only input: the filter's parameter, as text."""
        name = str(self.parameter_name)
        return [(name, "text", str(self.title), self.value() or "")]


class RangeDateFilter(_TypedFilter, admin.FieldListFilter):
    """A filter for a range of days; subclasses filter the rows, using `used_parameters`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.expected_parameters():
            value = self.used_parameters.get(str(name))
            if isinstance(value, list):
                self.used_parameters[str(name)] = value[-1]

    def expected_parameters(self) -> list[str | None]:
        """Return the parameters for the first and the last day."""
        return [f"{self.field_path}_{end}" for end in ("from", "to")]

    def inputs(self) -> list[tuple[str, str, str, str]]:
        """Return the inputs for the first and the last day."""
        return [(f"{self.field_path}_{end}", "date", end, self._of(end)) for end in ("from", "to")]

    def _of(self, end: str) -> str:
        return str(self.used_parameters.get(f"{self.field_path}_{end}") or "")
