"""Where a sign-in ends: the page that was wanted, or one that says why not."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme


def landing(request: HttpRequest, wanted: Any, user: Any) -> str:
    """The address to go to: the one asked for if it is ours, else the admin or the API's pages."""
    if isinstance(wanted, str) and is_ours(request, wanted):
        return wanted
    return reverse("admin:index") if user.is_staff else reverse("valkyr-docs")


def is_ours(request: HttpRequest, address: str) -> bool:
    """Whether an address leads nowhere else (no open redirect)."""
    return bool(address) and url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )


def failed(request: HttpRequest, status: int, title: str, reason: str) -> HttpResponse:
    """A page that says why nobody is signed in, with the way back to the sign-in page."""
    return render(request, "sso/failed.html", {"title": title, "reason": reason}, status=status)


# Why a sign-in ended without a session; each says what the person can do.


class Refused(PermissionDenied):
    """The provider knows the person, but this installation does not let them in."""


class ProviderTrouble(Exception):
    """The provider could not be reached, or said something that cannot be believed.

    The message is for the log: it may name addresses and claims, never a token.
    """
