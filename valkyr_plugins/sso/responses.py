"""The responses that end a sign-in: the requested page, or an error page."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


def landing(request: HttpRequest, wanted: Any, user: Any) -> str:
    """Return `wanted` if it is on this installation; else the URL of the admin (staff) or docs."""
    if isinstance(wanted, str) and is_ours(request, wanted):
        return wanted
    return reverse("admin:index") if user.is_staff else reverse("valkyr-docs")


def is_ours(request: HttpRequest, address: str) -> bool:
    """Return whether an address is on this installation, to prevent open redirects."""
    return bool(address) and url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )


def failed(request: HttpRequest, status: int, title: str, reason: str) -> HttpResponse:
    """Return an error page for a failed sign-in, with a link to the sign-in page."""
    return render(request, "sso/failed.html", {"title": title, "reason": reason}, status=status)


# The reasons why a sign-in ended without a session. Each message says what the user can do.


class Refused(PermissionDenied):
    """The provider authenticated the user, but this installation rejects the sign-in."""


class ProviderTrouble(Exception):
    """The provider could not be reached, or its answer is invalid.

    The message is for the log: it may name addresses and claims, never a token.
    """
