"""The admin page with a link to an OAuth 2.0 server's consent page, to connect a credential."""

from typing import Any
from urllib.parse import urlsplit

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext

from executions.public import addresses
from executions.public.admin import CredentialAdmin, OperatingAdmin
from executions.public.credentials import source_of
from executions.public.errors import ValkyrError
from executions.public.language import lazy
from executions.public.models import Permission
from valkyr_plugins.short_lived import consent


def _has_page(row: Any) -> bool:
    return row.type == "oauth2" and "authorization_url" in row.fields


def connect(model_admin: OperatingAdmin, request: HttpRequest, object_id: str) -> HttpResponse:
    """Show a page with a link to the consent page of the OAuth 2.0 server."""
    row = model_admin.get_or_refuse(request, object_id)
    if not model_admin.has_change_permission(request, row):
        raise PermissionDenied(gettext("You may not change this credential."))
    redirect = request.build_absolute_uri(addresses.api("oauth2-callback"))
    try:
        address = consent.begin(request.session, source_of(row), redirect)
    except (consent.ConsentFailed, ValkyrError) as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(addresses.admin("executions_credential_change", row.pk))
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": gettext("Connect {name}").format(name=row.name),
        "credential": row,
        "opts": model_admin.opts,
        "address": address,
        "host": urlsplit(address).netloc,
        "redirect": redirect,
        "is_connected": "refresh_token" in row.fields,
    }
    return TemplateResponse(request, "short_lived/connect.html", context)


CredentialAdmin.show(
    "connect", lazy("Connect…"), "link", connect, primary=True, needs=Permission.CONFIGURE,
    fits=_has_page,
)  # fmt: skip
