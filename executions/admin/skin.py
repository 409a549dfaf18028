"""The admin pages' building blocks: Unfold's parts if it is installed, otherwise Django's own.

Pages import classes, widgets and templates only from here. INSTALLED_APPS decides once whether
Unfold is used, because its templates are found only if its app is installed.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.apps import apps
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.http import url_has_allowed_host_and_scheme

UNFOLD = apps.is_installed("unfold")

if TYPE_CHECKING:
    # Unfold has no types, and its classes differ from Django's only in parts that our pages do not
    # use.
    ModelAdmin: Any
    ChangeList: Any
    ActionVariant: Any
    DialogForm: Any
    TextFilter: Any
    RangeDateFilter: Any
    TextInput: Any
    Textarea: Any
    Select: Any
    CheckboxSelectMultiple: Any
    IntegerInput: Any
    PasswordInput: Any
    display: Any
elif UNFOLD:
    from unfold.admin import ModelAdmin
    from unfold.contrib.filters.admin import RangeDateFilter, TextFilter
    from unfold.decorators import display
    from unfold.enums import ActionVariant
    from unfold.forms import BaseDialogForm as DialogForm
    from unfold.views import ChangeList
    from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget as CheckboxSelectMultiple
    from unfold.widgets import UnfoldAdminIntegerFieldWidget as IntegerInput
    from unfold.widgets import UnfoldAdminPasswordWidget as PasswordInput
    from unfold.widgets import UnfoldAdminSelectWidget as Select
    from unfold.widgets import UnfoldAdminTextareaWidget as Textarea
    from unfold.widgets import UnfoldAdminTextInputWidget as TextInput

    from executions.vendor_seams.unfold_list_headers import build_headers_once

    build_headers_once()
else:
    from django.contrib.admin.views.main import ChangeList
    from django.contrib.admin.widgets import AdminIntegerFieldWidget as IntegerInput
    from django.contrib.admin.widgets import AdminTextareaWidget as Textarea
    from django.contrib.admin.widgets import AdminTextInputWidget as TextInput
    from django.forms import CheckboxSelectMultiple, PasswordInput, Select

    from executions.admin.plain import (
        ActionVariant,
        DialogForm,
        ModelAdmin,
        RangeDateFilter,
        TextFilter,
        display,
    )

__all__ = [
    "FONTS",
    "MEDIA",
    "MONITOR",
    "UNFOLD",
    "ActionVariant",
    "ChangeList",
    "CheckboxSelectMultiple",
    "DialogForm",
    "IntegerInput",
    "ModelAdmin",
    "PasswordInput",
    "RangeDateFilter",
    "Select",
    "TextFilter",
    "TextInput",
    "Textarea",
    "came_from",
    "dialog",
    "display",
]

# Templates by purpose.
TEMPLATES: Mapping[str, str] = {
    name: f"valkyr/{'unfold' if UNFOLD else 'plain'}/{name}.html"
    for name in ("dialog", "facts", "field")
}
_FONTS = (
    ["unfold/fonts/inter/styles.css", "unfold/fonts/material-symbols/styles.css"]
    if UNFOLD
    else ["executions/icons/icons.css"]
)
# In this order: design tokens, styles of Django's plain admin, components, and styles of the admin
# only.
_STYLES = [
    "executions/tokens.css",
    *([] if UNFOLD else [*_FONTS, "executions/plain.css"]),
    "executions/components.css",
    "executions/valkyr.css",
]
# For pages outside the admin.
FONTS = forms.Media(css={"all": _FONTS})
# Deferred: the scripts run after the page is parsed, in this order.
MEDIA = forms.Media(
    css={"all": _STYLES},
    js=[
        forms.Script(f"executions/{name}.js", defer=True)  # type: ignore[misc]
        for name in ("valkyr", "palette", "live")
    ],
)
# For the execution's page, whose live part uses the studio's code.
MONITOR = forms.Media(
    css={"all": ["executions/studio/shared.css", "executions/studio/monitor.css"]},
    js=[forms.Script("executions/studio/monitor.js", type="module")],  # type: ignore[list-item]
)
# The parameter with the page that opened a dialog, if the dialog is a separate page.
BACK = "_back"


def dialog(admin: Any, request: HttpRequest, context: Mapping[str, Any]) -> HttpResponse:
    """Return the response with a question, in Unfold's modal or on a separate page.

    `context` has the `dialog` (title, description, form_submit_text, danger) and a `form`. The
    content `shown`, or else a `refusal`, is displayed in place of the form.
    """
    if UNFOLD:
        return TemplateResponse(request, TEMPLATES["dialog"], {**context})
    whole = {
        **admin.admin_site.each_context(request),
        "title": context["dialog"]["title"],
        "opts": admin.opts,
        "back": came_from(request) or "..",
        "back_name": BACK,
        "media": admin.media,
        **context,
    }
    return TemplateResponse(request, TEMPLATES["dialog"], whole)


def came_from(request: HttpRequest) -> str:
    """Return the local URL of the page that opened a dialog; "" if unknown."""
    from urllib.parse import urlsplit

    given = request.POST.get(BACK) or request.headers.get("Referer", "")
    address = request.headers.get("HX-Current-URL", "") or ("" if UNFOLD else given)
    secure = request.is_secure()
    if not url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=secure):
        return ""
    parts = urlsplit(address)
    if parts.path == request.path:
        return ""
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
