"""The two addresses of single sign-on: out to the provider, and back."""

from typing import Any

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.internal import statekit
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from executions.public import accounts
from valkyr_plugins.sso.configuration import configured
from valkyr_plugins.sso.provider import Conversation
from valkyr_plugins.sso.responses import ProviderTrouble, failed, is_ours

# No real address of ours is nearly as long.
LONGEST_NEXT = 2_000


@never_cache
@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Off to the provider; `next` is where to go after it, if that is an address of ours.

    Counted, since each keeps a row: the session with its state.
    """
    provider = _provider(request)
    excess = accounts.count(accounts.of_sign_in(str(request.META.get("REMOTE_ADDR", "")), None))
    if excess is not None:
        return failed(request, 429, "Too many sign-ins", str(excess))
    wanted = request.GET.get("next", "")[:LONGEST_NEXT]
    try:
        answer: HttpResponse = provider.begin(request, wanted if is_ours(request, wanted) else "")
    except ProviderTrouble as error:
        answer = render_authentication_error(request, provider, exception=error)
    return answer


@never_cache
@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Back from the provider, with a code or an error."""
    provider = _provider(request)
    try:
        answer: HttpResponse = _Callback.adapter_view(Conversation(request, provider.sub_id))(
            request
        )
    except ProviderTrouble as error:
        answer = render_authentication_error(request, provider, exception=error)
    return answer


class _Callback(OAuth2CallbackView):
    """allauth's callback; its state hands the nonce on to the check of the ID token."""

    def _get_state(self, request: HttpRequest, provider: Any) -> Any:
        state_id = request.GET.get("state", "")
        state = statekit.unstash_state(request, provider_id=provider.sub_id, state_id=state_id)
        if state is None:
            return None, render_authentication_error(request, provider)
        self.adapter.nonce = state.get("nonce")
        return state, None


def _provider(request: HttpRequest) -> Any:
    sso = configured()
    if sso is None:
        raise Http404
    return get_adapter(request).get_provider(request, sso.issuer)


# What the sign-in page is to show.


def sign_in(request: HttpRequest) -> dict[str, Any]:
    """The provider's button, and whether the password's form is shown beside it.

    With VALKYR_OIDC_ONLY the form hides behind `?password`, for superusers when the provider is
    away; it is shown again after a refused try.
    """
    sso = configured()
    if sso is None or not _signs_in(request):
        return {}
    asked = "password" in request.GET or request.method == "POST"
    return {"sso_name": sso.name, "password_hidden": sso.only and not asked}


def _signs_in(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.view_name == "admin:login"
