"""The filters of a list as one form above the list.

The filters are in the URL, and work without scripts.
"""

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.contrib.admin import ListFilter
from django.db.models import QuerySet
from django.forms.forms import DeclarativeFieldsMetaclass
from django.http import HttpRequest
from django.utils.translation import gettext

from dlq.models import FailureGroup
from executions.admin.scope import scoped
from executions.language import lazy
from executions.models import Workflow

YES_NO = [("", lazy("any")), ("yes", lazy("yes")), ("no", lazy("no"))]


@dataclass(frozen=True, slots=True)
class Chip:
    """The text of an active filter, and the URL of the list without this filter."""

    text: str
    without: str


class _AbstractForm(DeclarativeFieldsMetaclass, ABCMeta):
    """The metaclass of forms that have abstract methods."""


class FiltersForm(forms.Form, metaclass=_AbstractForm):
    """The filters of a list as optional fields, filled from the URL's parameters."""

    suggestions: dict[str, list[str]]

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(data=request.GET, auto_id="filter-%s")
        self.request = request
        self.suggestions = {}
        for name, field in self.fields.items():
            field.required = False
            if isinstance(field, forms.IntegerField):
                # As text, so that an invalid number is shown as it was typed.
                field.widget = forms.TextInput(attrs={"inputmode": "numeric"})
            field.widget.attrs |= {"class": "vk-input", "list": f"suggested-{name}"}

    def offer(self, name: str, offered: Sequence[tuple[str, str]]) -> None:
        """Set the choices of the field `name`."""
        widget: Any = self.fields[name].widget
        widget.choices = offered

    @abstractmethod
    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows that match the filled fields. Called only if the form is valid."""

    def filled(self) -> dict[str, Any]:
        """Return the filled fields of a valid form."""
        return {k: v for k, v in self.cleaned_data.items() if v not in ("", None, [])}

    def chips(self, changelist: Any) -> Iterator[Chip]:
        """Yield a chip for each visible field that is filled."""
        for name, field in self.fields.items():
            text = self.data.get(name)
            if not text or isinstance(field.widget, forms.HiddenInput):
                continue
            widget: Any = field.widget
            shown = dict(getattr(widget, "choices", ())).get(text, text)
            label = str(field.label or name.replace("_", " ")).lower()
            yield Chip(f"{label}: {shown}", changelist.get_query_string({name: None}))


class FieldsFilter(ListFilter):
    """Applies a form to the list. An invalid form matches no rows and shows its errors."""

    title = lazy("more")
    form_class: ClassVar[type[FiltersForm]]

    def __init__(
        self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any
    ) -> None:
        super().__init__(request, params, model, model_admin)
        for name in self.form_class.base_fields:
            params.pop(name, None)
        self.form = self.form_class(request)

    def expected_parameters(self) -> list[str | None]:
        """Return the names of the form's fields."""
        return list(self.form_class.base_fields)

    def has_output(self) -> bool:
        """Return True, because the form is always shown."""
        return True

    def choices(self, changelist: Any) -> Iterator[Any]:
        """Return no choices, because the filter is a form."""
        return iter(())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the rows that match the form; no rows if the form is invalid."""
        return self.form.narrow(queryset) if self.form.is_valid() else queryset.none()


# The options of triage's filter forms, limited in number and to what the user may see.


OFFERED = 100


def workflows(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the choices "any" and the first 100 unarchived workflows, ordered by name."""
    rows = scoped(request, Workflow.objects.filter(archived_at=None)).order_by("name")
    return [
        ("", gettext("any")),
        *((str(pk), name) for pk, name in rows.values_list("pk", "name")[:OFFERED]),
    ]


def suggestions(request: HttpRequest) -> dict[str, list[str]]:
    """Return up to 100 modules and 100 exception classes of recent groups, as suggestions."""
    rows: Any = scoped(request, FailureGroup.objects.all()).order_by("-last_seen")
    found = list(rows.values_list("module", "exception")[: OFFERED * 5])
    return {
        "module": sorted({module for module, _ in found})[:OFFERED],
        "exception": sorted({exception for _, exception in found if exception})[:OFFERED],
    }
