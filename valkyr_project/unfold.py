"""The style of the admin and the entries of its sidebar."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse, reverse_lazy

from executions import addresses
from executions.configuration import settings as valkyr_settings
from executions.language import lazy
from valkyr_project import plugins
from valkyr_project.up.failing_processes import supervised


def _icon(request: HttpRequest) -> str:
    return static("executions/icon.svg")


def _flower(request: HttpRequest) -> str:
    return valkyr_settings().flower_url


def _health_script(request: HttpRequest) -> str:
    return f"{static('ui/health.js')}#{addresses.api('health')}"


def may_view(model: str) -> Any:
    """Return a sidebar entry's permission: whether the user may see `app.model`."""

    def permitted(request: HttpRequest) -> bool:
        page = admin.site.get_model_admin(apps.get_model(model))
        return page.has_view_permission(request)

    return permitted


def _list_of(title: str, icon: str, model: str) -> dict[str, Any]:
    return {
        "title": title,
        "icon": icon,
        "link": reverse_lazy(f"admin:{model.replace('.', '_')}_changelist"),
        "permission": may_view(model),
    }


def _alerts() -> list[dict[str, Any]]:
    if "alerts" not in plugins.chosen():
        return []
    return [
        _list_of(lazy("Alerts"), "notifications_active", "valkyr_alerts.alert"),
        _list_of(lazy("Alert rules"), "notification_add", "valkyr_alerts.alertrule"),
        _list_of(lazy("Alert messages"), "outgoing_mail", "valkyr_alerts.alertdelivery"),
    ]


def _circuits() -> list[dict[str, Any]]:
    if "circuits" not in plugins.chosen():
        return []
    return [
        _list_of(lazy("Circuits"), "electrical_services", "valkyr_circuits.circuitbreaker"),
        _list_of(lazy("Circuit rules"), "rule", "valkyr_circuits.circuitrule"),
    ]


def _limits() -> list[dict[str, Any]]:
    if "limits" not in plugins.chosen():
        return []
    return [
        _list_of(lazy("Quotas"), "data_usage", "valkyr_limits.quota"),
        _list_of(lazy("Budgets"), "savings", "valkyr_limits.budget"),
        _list_of(lazy("Costs"), "payments", "valkyr_limits.costentry"),
    ]


def _redrives() -> list[dict[str, Any]]:
    if "redrive" not in plugins.chosen():
        return []
    return [_list_of(lazy("Redrives"), "replay", "valkyr_redrive.redrive")]


def _factors() -> list[dict[str, Any]]:
    if "mfa" not in plugins.chosen():
        return []
    return [_list_of(lazy("Second factors"), "phonelink_lock", "valkyr_mfa.secondfactor")]


def _own_factor() -> list[dict[str, Any]]:
    if "mfa" not in plugins.chosen():
        return []
    return [{"title": lazy("Your second factor"), "link": reverse_lazy("valkyr-mfa")}]


def _can_switch_language(request: HttpRequest) -> bool:
    """Return whether the URLs include Django's `set_language`; a project may have its own."""
    try:
        reverse("set_language")
    except NoReverseMatch:
        return False
    return True


UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Valkyr",
    "SITE_HEADER": "Valkyr",
    "SITE_SUBHEADER": lazy("Durable workflows"),
    "SITE_URL": None,
    "SITE_ICON": _icon,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _icon}],
    "LOGIN": {"form": "valkyr_project.password_form.PasswordForm"},
    "SHOW_LANGUAGES": _can_switch_language,
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "DASHBOARD_CALLBACK": "dlq.admin.dashboard.context",
    "STYLES": [
        lambda request: static("ui/home.css"),
        lambda request: static("ui/health.css"),
    ],
    "SCRIPTS": [
        lambda request: static("ui/alpine-csp.js"),
        *([_health_script] if supervised() else []),
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
        "show_search": False,
        "show_all_applications": False,
        "navigation": [
            {
                "items": [
                    {
                        "title": lazy("Dashboard"),
                        "icon": "dashboard",
                        "link": reverse_lazy("admin:index"),
                    },
                ]
            },
            {
                "title": lazy("Work"),
                "separator": True,
                "items": [
                    _list_of(lazy("Workflows"), "account_tree", "executions.workflow"),
                    {
                        "title": lazy("Studio"),
                        "icon": "draw",
                        "link": reverse_lazy("valkyr-studio"),
                    },
                    _list_of(lazy("Executions"), "play_circle", "executions.workflowexecution"),
                    _list_of(lazy("Failures"), "report", "dlq.failuregroup"),
                    _list_of(lazy("Runs"), "list_alt", "runners.run"),
                    _list_of(lazy("Approvals"), "how_to_reg", "runners.approval"),
                    _list_of(lazy("Dead letters"), "inbox", "dlq.deadletterentry"),
                    *_redrives(),
                ],
            },
            {
                "title": lazy("Operation"),
                "separator": True,
                "items": [
                    *_alerts(),
                    _list_of(lazy("Workers"), "memory", "runners.runner"),
                    *_circuits(),
                    _list_of(lazy("Triggers"), "bolt", "executions.trigger"),
                    _list_of(lazy("Credentials"), "password", "executions.credential"),
                    _list_of(lazy("Schedules"), "schedule", "django_celery_beat.periodictask"),
                    _list_of(lazy("Schedule ticks"), "alarm_on", "executions.crontick"),
                    _list_of(lazy("Events"), "notifications", "executions.event"),
                    _list_of(
                        lazy("Refused messages"), "mark_email_unread", "executions.refusedmessage"
                    ),
                    _list_of(lazy("Activity"), "history", "executions.activity"),
                    {"title": "Flower", "icon": "local_florist", "link": _flower, "active": False},
                    {
                        "title": lazy("API pages"),
                        "icon": "api",
                        "link": reverse_lazy("valkyr-docs"),
                        "active": False,
                    },
                ],
            },
            {
                "title": lazy("People"),
                "separator": True,
                "items": [
                    _list_of(lazy("Workspaces"), "workspaces", "executions.workspace"),
                    _list_of(lazy("Tiers"), "speed", "executions.tier"),
                    *_limits(),
                    _list_of(lazy("Members"), "badge", "executions.membership"),
                    _list_of(lazy("Service accounts"), "smart_toy", "executions.serviceaccount"),
                    _list_of(lazy("API tokens"), "key", "executions.apitoken"),
                    _list_of(lazy("Sessions"), "devices", "executions.accountsession"),
                    *_factors(),
                    _list_of(
                        lazy("Shared with people"), "share", "executions.workflowuserpermission"
                    ),
                    _list_of(
                        lazy("Shared with groups"),
                        "group_work",
                        "executions.workflowgrouppermission",
                    ),
                    _list_of(lazy("Users"), "person", "auth.user"),
                    _list_of(lazy("Groups"), "group", "auth.group"),
                ],
            },
        ],
    },
}
