"""The pages on which users manage second factors, prove one at sign-in, or repeat the password."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import segno
from django.contrib.auth import authenticate, get_user_model, logout
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from executions.public import addresses
from executions.public.access import Actor, record
from executions.public.accounts import count, of_sign_in
from executions.public.configuration import read
from executions.public.errors import ValkyrError
from valkyr_plugins.mfa import codes, factors, passkeys
from valkyr_plugins.mfa.conf import MfaSettings
from valkyr_plugins.mfa.forms import CodeForm, PasskeyForm, PasswordAgainForm
from valkyr_plugins.mfa.progress import (
    SignInProgress,
    is_recent,
    is_vouched_for,
    note_factor,
    note_password,
)
from valkyr_plugins.mfa.webauthn import is_installed

View = Callable[..., HttpResponse]
# Maximum characters of an address. Valkyr's own addresses are much shorter.
LONGEST_NEXT = 2_000
PAGES = require_http_methods(["GET", "HEAD", "POST"])


def _page(*methods: View, allowed: set[SignInProgress]) -> Callable[[View], View]:
    """Return a decorator for pages that require an allowed state; other sessions are redirected."""

    def decorated(view: View) -> View:
        def answered(request: Any, **given: Any) -> HttpResponse:
            progress = request.mfa_progress()
            if progress in allowed:
                return view(request, request.mfa_user, **given)
            if progress is SignInProgress.NOBODY:
                back = request.get_full_path() if request.method == "GET" else addresses.api("mfa")
                return redirect_to_login(back, addresses.sign_in())
            if progress is SignInProgress.CODE:
                return _to("mfa-code", request)
            return HttpResponseRedirect(_wanted(request))

        page: Any = answered
        for wrap in (*methods, csrf_protect, sensitive_post_parameters(), never_cache):
            page = wrap(page)
        wrapped: View = page
        return wrapped

    return decorated


def _recent(view: View) -> View:
    """Wrap a view so that it asks for the password again if the sign-in is not recent."""

    def answered(request: Any, user: Any, **given: Any) -> HttpResponse:
        if is_recent(request):
            return view(request, user, **given)
        return HttpResponseRedirect(
            f"{addresses.api('mfa-again')}?{urlencode({'next': addresses.api('mfa')})}"
        )

    return answered


SIGNED_IN = {SignInProgress.COMPLETE, SignInProgress.ENROLMENT}


@_page(require_GET, allowed=SIGNED_IN)
def overview(request: Any, user: Any) -> HttpResponse:
    """Show the user's factors with their operations, or the start of the set-up."""
    facts = {
        "factor": factors.confirmed(user),
        "passkeys": passkeys.passkeys_of(user),
        "possible": passkeys.ceremony(request) is not None,
        "left": factors.codes_left(user),
        "of": codes.RECOVERY_CODES,
        "required": request.mfa_progress() is SignInProgress.ENROLMENT,
        "vouched_for": is_vouched_for(request),
    }
    return _shown(request, "overview", facts)


@_page(require_POST, allowed=SIGNED_IN)
@_recent
def begin(request: Any, user: Any) -> HttpResponse:
    """Create a secret, and open the page that shows it."""
    try:
        factors.begin(user)
    except ValkyrError as error:
        return _shown(request, "overview", {"problem": error.message}, status=409)
    return _to("mfa-confirm", request)


@_page(PAGES, allowed=SIGNED_IN)
@_recent
def confirm(request: Any, user: Any) -> HttpResponse:
    """Show the secret as a QR code and as text, and ask for a code to confirm it."""
    factor = factors.begun(user)
    if factor is None:
        return _to("mfa", request)
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = factors.confirm(user, form.cleaned_data["code"], _actor(request, user))
        except ValkyrError as error:
            form.add_error("code", error.message)
        else:
            return _enrolled(request, made)
    secret = factors.secret_of(factor)
    address = codes.address_of(secret, user.get_username(), _issuer(request))
    groups = [secret[at : at + 4] for at in range(0, len(secret), 4)]
    facts = {"form": form, "secret": " ".join(groups), "picture": _picture(address)}
    return _shown(request, "confirm", facts)


@_page(PAGES, allowed=SIGNED_IN)
@_recent
def add_passkey(request: Any, user: Any) -> HttpResponse:
    """Ask for a name, and let the browser create a passkey."""
    form = PasskeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            actor = _actor(request, user)
            made = passkeys.add(request, user, given["name"], given["passkey"], actor)
        except ValkyrError as error:
            form.add_error(None, error.message)
        else:
            return _enrolled(request, made)
    options = passkeys.offer(request, user)
    if options is None:
        return _to("mfa", request)
    return _shown(request, "passkey", {"form": form, "options": json.dumps(options)})


@_page(PAGES, allowed={SignInProgress.COMPLETE})
@_recent
def remove_passkey(request: Any, user: Any, pk: UUID) -> HttpResponse:
    """Remove a passkey, after a confirmation."""
    row = next((one for one in passkeys.passkeys_of(user) if one.pk == pk), None)
    if row is None:
        return HttpResponseRedirect(addresses.api("mfa"))
    if request.method != "POST":
        facts = {
            "passkey": row,
            "required": read(MfaSettings).mfa_required,
            "last": len(factors.ids_of(user)) == 1,
        }
        return _shown(request, "remove", facts)
    passkeys.remove(user, pk, _actor(request, user))
    return _removed(request, user)


@_page(require_POST, allowed={SignInProgress.COMPLETE})
@_recent
def renew_codes(request: Any, user: Any) -> HttpResponse:
    """Show ten new recovery codes, which replace the earlier ones."""
    try:
        made = factors.renew_codes(user, _actor(request, user))
    except ValkyrError as error:
        return _shown(request, "overview", {"problem": error.message}, status=409)
    return _shown(request, "codes", {"codes": made.recovery_codes})


@_page(PAGES, allowed={SignInProgress.COMPLETE})
@_recent
def remove(request: Any, user: Any) -> HttpResponse:
    """Remove the authenticator app, after a confirmation."""
    if request.method != "POST":
        last = len(factors.ids_of(user)) == 1
        required = read(MfaSettings).mfa_required
        return _shown(request, "remove", {"required": required, "last": last})
    try:
        factors.remove(user, _actor(request, user))
    except ValkyrError as error:
        return _shown(request, "overview", {"problem": error.message}, status=409)
    return _removed(request, user)


@_page(PAGES, allowed={SignInProgress.CODE})
def code(request: Any, user: Any) -> HttpResponse:
    """Ask for the factor that completes a sign-in, then open the requested page."""
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _factor_proved(request, user, form):
        return HttpResponseRedirect(_wanted(request))
    return _shown(request, "code", _asked(request, user, form))


@_page(PAGES, allowed=SIGNED_IN)
def again(request: Any, user: Any) -> HttpResponse:
    """Ask for the password again, and for a code or a passkey if the account has a factor.

    For a session that began at a provider, and for an account without a password, the user signs in
    again instead.
    """
    if is_vouched_for(request) or not user.has_usable_password():
        return _shown(request, "elsewhere", {"name": user.get_username()})
    has_factor = bool(factors.ids_of(user))
    form = PasswordAgainForm(request.POST or None, has_factor=has_factor)
    if request.method == "POST" and form.is_valid() and _proved(request, user, form):
        note_password(request)
        record(
            _actor(request, user),
            "account.sign_in_again",
            workspace_id=None,
            object_type="User",
            object_id=user.pk,
        )
        return HttpResponseRedirect(_wanted(request))
    return _shown(request, "again", _asked(request, user, form))


@_page(require_POST, allowed={*SIGNED_IN, SignInProgress.CODE})
def leave(request: Any, user: Any) -> HttpResponse:
    """Sign out, and open the sign-in page, which returns to the requested page."""
    # Receivers of the sign-out signal must see the user.
    request.user = user
    wanted = _wanted(request)
    logout(request)
    return redirect_to_login(wanted, addresses.sign_in())


def _proved(request: Any, user: Any, form: PasswordAgainForm) -> bool:
    """Return whether the password and the factor are correct; if not, the form shows the error."""
    name = user.get_username()
    excess = count(of_sign_in(str(request.META.get("REMOTE_ADDR", "")), name))
    if excess is not None:
        form.add_error(None, str(excess))
        return False
    given = {get_user_model().USERNAME_FIELD: name, "password": form.cleaned_data["password"]}
    found = authenticate(request, **given)
    if found is None or found.pk != user.pk:
        form.add_error("password", gettext("The password is wrong."))
        return False
    return "code" not in form.fields or _factor_proved(request, user, form)


def _factor_proved(request: Any, user: Any, form: CodeForm | PasswordAgainForm) -> bool:
    """Return whether the code or the passkey is correct; if not, the form shows the error."""
    actor, given = _actor(request, user), form.cleaned_data
    try:
        if given["passkey"]:
            factor_id = passkeys.check(request, user, given["passkey"], actor)
        else:
            factor_id = factors.check(user, given["code"], actor)
    except ValkyrError as error:
        form.add_error(None if given["passkey"] else "code", error.message)
        return False
    note_factor(request, factor_id)
    return True


def _asked(request: Any, user: Any, form: Any) -> dict[str, Any]:
    """Return the template context of a page that asks for a factor."""
    options = passkeys.offer_sign_in(request, user) if "code" in form.fields else None
    return {
        "form": form,
        "name": user.get_username(),
        "options": None if options is None else json.dumps(options),
        "has_app": factors.confirmed(user) is not None,
        "has_library": is_installed(),
    }


def _enrolled(request: Any, made: factors.Enrolled) -> HttpResponse:
    """Continue after a factor was added: show the recovery codes if they are new."""
    note_factor(request, made.factor_id)
    if not made.recovery_codes:
        return HttpResponseRedirect(addresses.api("mfa"))
    return _shown(request, "codes", {"codes": made.recovery_codes, "new": True})


def _removed(request: Any, user: Any) -> HttpResponse:
    """Continue after a factor was removed; treat one of the remaining factors as proved."""
    left = factors.ids_of(user)
    if left:
        note_factor(request, min(left))
    return HttpResponseRedirect(addresses.api("mfa"))


def _shown(
    request: HttpRequest, name: str, facts: dict[str, Any], status: int = 200
) -> HttpResponse:
    return render(request, f"mfa/{name}.html", {**facts, "wanted": _wanted(request)}, status=status)


def _to(name: str, request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect(f"{addresses.api(name)}?{urlencode({'next': _wanted(request)})}")


def _wanted(request: HttpRequest) -> str:
    """Return the next URL: the requested one if it is on this host; otherwise a start page."""
    given = (request.POST.get("next") or request.GET.get("next", ""))[:LONGEST_NEXT]
    own = url_has_allowed_host_and_scheme(
        given, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return given if own else addresses.admin_or_none("index") or addresses.root()


def _actor(request: HttpRequest, user: Any) -> Actor:
    return Actor.at_door(request, user.pk, user.get_username())


def _issuer(request: HttpRequest) -> str:
    return f"Valkyr {request.get_host().rpartition(':')[0] or request.get_host()}"


def _picture(address: str) -> SafeString:
    """Return the QR code as an inline SVG, which every Content-Security-Policy allows."""
    code = segno.make(address, error="m", micro=False)
    svg = code.svg_inline(scale=4, border=4, dark="#000", light="#fff", title="QR code")
    return mark_safe(svg)  # noqa: S308 - segno wrote it: lines alone
