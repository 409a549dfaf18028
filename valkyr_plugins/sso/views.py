"""The redirect to the provider, the return from it, and the context of the sign-in page."""

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

# Maximum characters of an address. Valkyr's own addresses are much shorter.
LONGEST_NEXT = 2_000


@never_cache
@require_GET
def begin(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider.

    `next` is the page after the sign-in, if it is one of our addresses. Requests are rate-limited,
    because each stores a row: the session with its state.
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
    """Handle the user's return from the provider, with a code or an error."""
    provider = _provider(request)
    try:
        answer: HttpResponse = _Callback.adapter_view(Conversation(request, provider.sub_id))(
            request
        )
    except ProviderTrouble as error:
        answer = render_authentication_error(request, provider, exception=error)
    return answer


class _Callback(OAuth2CallbackView):
    """allauth's callback, which passes the state's nonce to the check of the ID token."""

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


# The context of the sign-in page.


def sign_in(request: HttpRequest) -> dict[str, Any]:
    """Return the provider's name, and whether the password form is hidden, for the sign-in page.

    With VALKYR_OIDC_ONLY, the form is shown only at `?password` (for superusers) and after a failed
    attempt. Returns {} for other pages, or without a provider.
    """
    sso = configured()
    if sso is None or not _signs_in(request):
        return {}
    asked = "password" in request.GET or request.method == "POST"
    return {"sso_name": sso.name, "password_hidden": sso.only and not asked}


def _signs_in(request: HttpRequest) -> bool:
    match = request.resolver_match
    return match is not None and match.view_name == "admin:login"
