"""The view to which an OAuth 2.0 server redirects the browser."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from executions.public import addresses
from executions.public.access import Actor
from executions.public.admin import scoped
from executions.public.credentials import source_of
from executions.public.database import turn_to_id
from executions.public.errors import ValkyrError
from executions.public.models import Credential, Permission
from valkyr_plugins.short_lived import consent

LIST, PAGE = "executions_credential_changelist", "executions_credential_change"


@never_cache
@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Finish a consent, and redirect to the credential's page with the result as a message."""
    listing = addresses.admin_or_none(LIST) or addresses.root()
    if not request.user.is_authenticated:
        return redirect_to_login(listing, addresses.sign_in())
    page = listing
    try:
        begun = consent.pending(request.session, request.GET.get("state", ""))
        turn_to_id(begun["id"])
        row = _changeable(request, begun["id"])
        page = addresses.admin_or_none(PAGE, row.pk) or listing
        answer: dict[str, Any] = request.GET.dict()
        consent.finish(source_of(row), begun, answer, Actor.of_request(request))
    except (consent.ConsentFailed, ValkyrError) as error:
        messages.error(request, str(error))
    else:
        text = gettext("Credential {name} is connected.").format(name=row.name)
        messages.success(request, text)
    return HttpResponseRedirect(page)


def _changeable(request: HttpRequest, pk: str) -> Credential:
    """Return a credential that the user may change. Raises ConsentFailed."""
    rows = scoped(request, Credential.objects.all(), Permission.CONFIGURE)
    row: Credential | None = rows.filter(pk=pk).first()
    if row is None:
        raise consent.ConsentFailed(
            gettext("The credential does not exist, or you may not change it.")
        )
    return row
