"""What the sign-in page is to show."""

from typing import Any

from django.http import HttpRequest

from valkyr_plugins.sso.configuration import configured


def sign_in(request: HttpRequest) -> dict[str, Any]:
    """The provider's button, and whether the password's form is shown beside it.

    With VALKYR_OIDC_ONLY the form hides behind `?password`, for superusers when the provider is
    away; it is shown again after a refused try.
    """
    sso = configured()
    if sso is None or not request.path.startswith("/admin/login"):
        return {}
    asked = "password" in request.GET or request.method == "POST"
    return {"sso_name": sso.name, "password_hidden": sso.only and not asked}
