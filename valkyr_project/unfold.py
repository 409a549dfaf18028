"""The settings of Unfold: how the admin looks, and its navigation."""

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse, reverse_lazy

from executions.language import lazy
from valkyr_project import navigation, plugins


def _icon(request: HttpRequest) -> str:
    return static("executions/icon.svg")


def _own_factor() -> list[dict[str, Any]]:
    if "mfa" not in plugins.chosen():
        return []
    return [{"title": lazy("Your second factor"), "link": reverse_lazy("valkyr-mfa")}]


def _can_switch_language(request: HttpRequest) -> bool:
    """Return whether the project's URLs include Django's `set_language`."""
    try:
        reverse("set_language")
    except NoReverseMatch:
        return False
    return True


# The accent colours of executions/static/executions/tokens.css. A change also changes a hash in
# `STYLE_HASHES`.
_WEIGHTS = (50, *range(100, 1000, 100), 950)
_ACCENT = {str(weight): f"var(--vk-violet-{weight})" for weight in _WEIGHTS}

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Valkyr",
    "SITE_HEADER": "Valkyr",
    "SITE_SUBHEADER": lazy("Durable workflows"),
    "SITE_URL": None,
    "SITE_ICON": _icon,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _icon}],
    "LOGIN": {"form": "valkyr_project.password_form.PasswordForm"},
    "COLORS": {"primary": _ACCENT},
    "SHOW_LANGUAGES": _can_switch_language,
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "DASHBOARD_CALLBACK": "dlq.admin.dashboard.context",
    "STYLES": [
        lambda request: static("executions/tokens.css"),
        lambda request: static("ui/home.css"),
    ],
    "SCRIPTS": [
        lambda request: static("ui/alpine-csp.js"),
        lambda request: static("executions/palette.js"),
    ],
    "ACCOUNT": {
        "navigation": [
            {
                "title": lazy("Your sessions"),
                "link": reverse_lazy("admin:executions_accountsession_changelist"),
            },
            *_own_factor(),
        ]
    },
    "SIDEBAR": {
        "show_search": True,
        "show_all_applications": False,
        "navigation": navigation.SIDEBAR,
    },
    "TABS": navigation.TABS,
}
