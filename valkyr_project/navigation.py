"""The admin's navigation: the side bar, tabs above related lists, and a page with all other links.

The side bar has a section for each area of daily work: *Monitor*, *Build* and *Administer*. Lists
that belong together share a row of tabs. All other pages have a card on the page *Administration*.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse, reverse_lazy
from django.utils.text import format_lazy
from django.utils.translation import gettext

from executions.configuration import settings as valkyr_settings
from executions.language import lazy
from valkyr_project import plugins

# The name of the page among the admin's URLs. The page belongs to the user model, so that it exists
# wherever a project mounts the admin.
ADMINISTRATION_NAME = "auth_user_administration"
Allowed = Callable[[HttpRequest], bool]


def _anybody(request: HttpRequest) -> bool:
    return True


def may_view(model: str) -> Allowed:
    """Return a function that checks whether a request's user may view the list of `model`."""

    def permitted(request: HttpRequest) -> bool:
        page = admin.site.get_model_admin(apps.get_model(model))
        return bool(page.has_view_permission(request))

    return permitted


@dataclass(frozen=True, slots=True)
class AdminPage:
    """A page of the admin: its title, its icon, its URL, and the text of its card."""

    title: Any
    icon: str
    link: Any
    note: Any = ""
    permitted: Allowed = _anybody
    model: str = ""
    plugin: str = ""
    active: Allowed | None = None

    @property
    def installed(self) -> bool:
        """Return whether the page's plugin is enabled; True if the page belongs to no plugin."""
        return not self.plugin or self.plugin in plugins.chosen()

    def address(self, request: HttpRequest) -> str:
        """Return the page's URL."""
        return self.link(request) if callable(self.link) else str(self.link)

    def item(self) -> dict[str, Any]:
        """Return the page in Unfold's format, for the side bar or for tabs."""
        item = {
            "title": self.title,
            "icon": self.icon,
            "link": self.link,
            "permission": self.permitted,
        }
        return item if self.active is None else item | {"active": self.active}


def _list_of(title: Any, icon: str, model: str, note: Any = "", plugin: str = "") -> AdminPage:
    link = reverse_lazy(f"admin:{model.replace('.', '_')}_changelist")
    return AdminPage(title, icon, link, note, may_view(model), model, plugin)


def _flower(request: HttpRequest) -> str:
    return valkyr_settings().flower_url


def _unfiltered(request: HttpRequest) -> bool:
    """Return whether the request is for the list of triggers, not filtered by type."""
    address = reverse("admin:executions_trigger_changelist")
    return request.path == address and "type__exact" not in request.GET


HOME = AdminPage(lazy("Home"), "home", reverse_lazy("admin:index"))
EXECUTIONS = _list_of(lazy("Executions"), "play_circle", "executions.workflowexecution")
RUNS = _list_of(lazy("Runs"), "list_alt", "runners.run")
BLOCKED = AdminPage(
    lazy("Waiting and blocked"),
    "hourglass_empty",
    reverse_lazy("admin:runners_run_blocked"),
    permitted=may_view("runners.run"),
    model="runners.run",
)
FAILURES = _list_of(lazy("Failures"), "report", "dlq.failuregroup")
DEAD_LETTERS = _list_of(lazy("Dead letters"), "inbox", "dlq.deadletterentry")
REDRIVES = _list_of(lazy("Redrives"), "replay", "valkyr_redrive.redrive", plugin="redrive")
PROPOSALS = _list_of(
    lazy("Proposals"),
    "smart_toy",
    "valkyr_mcp.proposal",
    lazy("Changes that agents propose and users approve."),
    "mcp",
)
APPROVALS = _list_of(lazy("Approvals"), "how_to_reg", "runners.approval")
TRIGGERS = replace(_list_of(lazy("All triggers"), "bolt", "executions.trigger"), active=_unfiltered)
SCHEDULES = replace(
    _list_of(lazy("Schedules"), "schedule", "executions.trigger"),
    link=format_lazy("{}?type__exact=CRON", TRIGGERS.link),
)
BEAT = _list_of(lazy("Beat entries"), "schedule", "django_celery_beat.periodictask")
TICKS = _list_of(lazy("Schedule ticks"), "alarm_on", "executions.crontick")
WORKFLOWS = _list_of(lazy("Workflows"), "account_tree", "executions.workflow")
STUDIO = AdminPage(lazy("Studio"), "draw", reverse_lazy("valkyr-studio"))
CREDENTIALS = _list_of(lazy("Credentials"), "password", "executions.credential")

# The entries of the page *Administration*, by heading.
ADMINISTRATION: tuple[tuple[Any, tuple[AdminPage, ...]], ...] = (
    (
        lazy("Operations"),
        (
            _list_of(
                lazy("Workers"),
                "memory",
                "runners.runner",
                lazy("Worker processes, their queues and what they execute now."),
            ),
            _list_of(
                lazy("Archive"),
                "inventory_2",
                "valkyr_archive.archivefile",
                lazy("Files with executions that retention deleted."),
                "archive",
            ),
            _list_of(
                lazy("Archived executions"),
                "manage_search",
                "valkyr_archive.archivedexecution",
                lazy("Find an archived execution by its ID, and restore it."),
                "archive",
            ),
            _list_of(
                lazy("Alerts"),
                "notifications_active",
                "valkyr_alerts.alert",
                lazy("Open and resolved alerts."),
                "alerts",
            ),
            _list_of(
                lazy("Alert rules"),
                "notification_add",
                "valkyr_alerts.alertrule",
                lazy("Conditions that raise an alert, and its recipients."),
                "alerts",
            ),
            _list_of(
                lazy("Alert messages"),
                "outgoing_mail",
                "valkyr_alerts.alertdelivery",
                lazy("Messages about alerts, and whether they arrived."),
                "alerts",
            ),
            _list_of(
                lazy("Circuits"),
                "electrical_services",
                "valkyr_circuits.circuitbreaker",
                lazy("Targets that steps call, their circuits, and the held steps."),
                "circuits",
            ),
            _list_of(
                lazy("Circuit rules"),
                "rule",
                "valkyr_circuits.circuitrule",
                lazy("When a circuit opens, and when it closes again."),
                "circuits",
            ),
            _list_of(
                lazy("Backtests"),
                "difference",
                "valkyr_backtest.backtest",
                lazy("Drafts compared with the records of past executions."),
                "backtest",
            ),
            _list_of(
                lazy("Canary versions"),
                "science",
                "valkyr_canary.canary",
                lazy("Versions that a share of new executions uses."),
                "canary",
            ),
            _list_of(
                lazy("Rollbacks"),
                "undo",
                "valkyr_canary.versionrollback",
                lazy("Withdrawn versions, and the executions that started on them."),
                "canary",
            ),
            _list_of(
                lazy("Migrations of executions"),
                "move_up",
                "valkyr_version_migration.executionmigration",
                lazy("Live executions that move to another version."),
                "version_migration",
            ),
            _list_of(
                lazy("Events"),
                "notifications",
                "executions.event",
                lazy("Events that callers or steps published."),
            ),
            _list_of(
                lazy("Refused messages"),
                "mark_email_unread",
                "executions.refusedmessage",
                lazy("Queue messages that could not start a workflow."),
            ),
            _list_of(
                lazy("Activity"),
                "history",
                "executions.activity",
                lazy("The audit trail: who changed what, and when."),
            ),
            _list_of(
                lazy("Credential uses"),
                "key_visualizer",
                "executions.credentialuse",
                lazy("The credentials that each step used, and refused uses."),
            ),
        ),
    ),
    (
        lazy("Limits"),
        (
            _list_of(
                lazy("Tiers"),
                "speed",
                "executions.tier",
                lazy("Limits on concurrent, waiting, hourly and daily executions."),
            ),
            _list_of(
                lazy("Quotas"),
                "data_usage",
                "valkyr_limits.quota",
                lazy("Limits on executions, steps and tokens."),
                "limits",
            ),
            _list_of(
                lazy("Budgets"),
                "savings",
                "valkyr_limits.budget",
                lazy("Limits on spending and language-model tokens."),
                "limits",
            ),
            _list_of(
                lazy("Costs"),
                "payments",
                "valkyr_limits.costentry",
                lazy("The cost of each step, entry by entry."),
                "limits",
            ),
        ),
    ),
    (
        lazy("People and access"),
        (
            _list_of(
                lazy("Workspaces"),
                "workspaces",
                "executions.workspace",
                lazy("Teams with their own workflows, members and limits."),
            ),
            _list_of(
                lazy("Members"),
                "badge",
                "executions.membership",
                lazy("Roles of users in workspaces."),
            ),
            _list_of(
                lazy("Service accounts"),
                "smart_toy",
                "executions.serviceaccount",
                lazy("Accounts for programs."),
            ),
            _list_of(
                lazy("API tokens"),
                "key",
                "executions.apitoken",
                lazy("Tokens, their scopes and last use."),
            ),
            _list_of(
                lazy("SQL grants"),
                "database",
                "valkyr_sql_views.sqlgrant",
                lazy("Login roles of BI tools, and the workspaces they read."),
                "sql_views",
            ),
            _list_of(
                lazy("Sessions"),
                "devices",
                "executions.accountsession",
                lazy("Devices that are signed in."),
            ),
            _list_of(
                lazy("Second factors"),
                "phonelink_lock",
                "valkyr_mfa.secondfactor",
                lazy("Users with a second factor. Reset lost second factors here."),
                "mfa",
            ),
            _list_of(
                lazy("Passkeys"),
                "passkey",
                "valkyr_mfa.passkey",
                lazy("Passkeys of users, and their last use."),
                "mfa",
            ),
            _list_of(
                lazy("Shared with people"),
                "share",
                "executions.workflowuserpermission",
                lazy("Permissions of users on individual workflows."),
            ),
            _list_of(
                lazy("Shared with groups"),
                "group_work",
                "executions.workflowgrouppermission",
                lazy("Permissions of groups on individual workflows."),
            ),
            _list_of(lazy("Users"), "person", "auth.user", lazy("Accounts of this installation.")),
            _list_of(lazy("Groups"), "group", "auth.group", lazy("Groups of users.")),
        ),
    ),
    (
        lazy("Tools"),
        (
            AdminPage(
                "Flower", "local_florist", _flower, lazy("Celery's workers, tasks and queues.")
            ),
            AdminPage(
                lazy("API reference"),
                "api",
                reverse_lazy("valkyr-docs"),
                lazy("API reference with examples."),
            ),
        ),
    ),
)


def _shown(request: HttpRequest) -> Iterator[tuple[str, list[AdminPage]]]:
    for title, places in ADMINISTRATION:
        allowed = [place for place in places if place.installed and place.permitted(request)]
        if allowed:
            yield str(title), allowed


def _administers(request: HttpRequest) -> bool:
    return any(place.model for _, places in _shown(request) for place in places)


def _is_administration(request: HttpRequest) -> bool:
    """Return whether the page is *Administration*, or a page of a list that has a card there."""
    lists = (place for _, places in ADMINISTRATION for place in places if place.model)
    found = (str(place.link) for place in lists if place.installed)
    return request.path.startswith((reverse(f"admin:{ADMINISTRATION_NAME}"), *found))


def _tabs(*places: AdminPage, above: tuple[AdminPage, ...] = ()) -> dict[str, Any]:
    """Return a row of tabs, shown above the lists in `above` (by default, the tabs' own lists)."""
    installed = [place for place in places if place.installed]
    return {
        "models": [place.model for place in above or installed],
        "items": [place.item() for place in installed],
    }


TABS: list[dict[str, Any]] = [
    _tabs(EXECUTIONS, RUNS, BLOCKED),
    # The two lists of triage have their own row of tabs, which also works without Unfold.
    _tabs(FAILURES, DEAD_LETTERS, REDRIVES, above=(REDRIVES,)),
    _tabs(SCHEDULES, TRIGGERS, TICKS, BEAT),
    *([_tabs(APPROVALS, PROPOSALS)] if PROPOSALS.installed else []),
]

SIDEBAR: list[dict[str, Any]] = [
    {
        "title": lazy("Monitor"),
        "items": [place.item() for place in (HOME, EXECUTIONS, FAILURES, APPROVALS, SCHEDULES)],
    },
    {
        "title": lazy("Build"),
        "separator": True,
        "items": [place.item() for place in (WORKFLOWS, STUDIO, CREDENTIALS)],
    },
    {
        "title": lazy("Administer"),
        "separator": True,
        "items": [
            {
                "title": lazy("Administration"),
                "icon": "settings",
                "link": reverse_lazy(f"admin:{ADMINISTRATION_NAME}"),
                "permission": _administers,
                "active": _is_administration,
            }
        ],
    },
]


def administration(request: HttpRequest) -> HttpResponse:
    """Return the page with a card for each page in ADMINISTRATION that the user may open."""
    groups = [
        (title, [(place, place.address(request)) for place in places])
        for title, places in _shown(request)
    ]
    context = {
        **admin.site.each_context(request),
        "title": gettext("Administration"),
        "groups": groups,
    }
    return TemplateResponse(request, "admin/administration.html", context)
