"""The lists by label that `labels` measures, by section, and the users who request them."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

Query = dict[str, str]
EXECUTIONS, LETTERS, GROUPS = "/v1/WorkflowExecution", "/v1/DeadLetterQueue", "/v1/FailureGroup"
PAGE, SEARCH = "/admin/executions/workflowexecution/", "/admin/executions/workflow/search/"
LETTER_PAGE, GROUP_PAGE = "/admin/dlq/deadletterentry/", "/admin/dlq/failuregroup/"
BIG, QUIET, RARE = "customer:big", "customer:quiet", "customer:c4711"
ORDER, UNKNOWN = "order:o4711", "customer:unknown"
BOTH = json.dumps({"customer": "big", "order": "o4711"})
# Each value may contain {workflow}: the only workflow of the user's workspace.
LISTS: dict[str, dict[str, tuple[str, Query]]] = {
    "dead-letters": {
        "big": (LETTERS, {"label": BIG}),
        "big, oldest first": (LETTERS, {"label": BIG, "order": "asc"}),
        "big, open": (LETTERS, {"label": BIG, "resolution": "PENDING"}),
        "big, discarded": (LETTERS, {"label": BIG, "resolution": "DISCARDED"}),
        "big, one workflow": (LETTERS, {"label": BIG, "workflowId": "{workflow}"}),
        "big, workflow, open": (
            LETTERS, {"label": BIG, "workflowId": "{workflow}", "resolution": "PENDING"},
        ),
        "quiet (none)": (LETTERS, {"label": QUIET}),
        "a rare customer": (LETTERS, {"label": RARE}),
        "one order": (LETTERS, {"label": ORDER}),
        "two labels": (LETTERS, {"label": BOTH}),
        "unknown": (LETTERS, {"label": UNKNOWN}),
        "counts": (f"{LETTERS}/labels", {"name": "customer"}),
        "counts, open": (f"{LETTERS}/labels", {"name": "customer", "resolution": "PENDING"}),
    },
    "groups": {
        "big": (GROUPS, {"label": BIG}),
        "big, new": (GROUPS, {"label": BIG, "status": "NEW"}),
        "big, one workflow": (GROUPS, {"label": BIG, "workflowId": "{workflow}"}),
        "quiet (none)": (GROUPS, {"label": QUIET}),
        "a rare customer": (GROUPS, {"label": RARE}),
        "two labels": (GROUPS, {"label": BOTH}),
        "unknown": (GROUPS, {"label": UNKNOWN}),
    },
    "admin": {
        "executions, big": (PAGE, {"label": BIG}),
        "executions, big, failed": (PAGE, {"label": BIG, "state": "failed"}),
        "executions, big, workflow": (PAGE, {"label": BIG, "workflow": "{workflow}"}),
        "executions, rare, by search": (PAGE, {"q": RARE}),
        "executions, one order": (PAGE, {"label": ORDER}),
        "command palette, one order": (SEARCH, {"q": ORDER}),
        "dead letters, big": (LETTER_PAGE, {"label": BIG}),
        "dead letters, big, all": (LETTER_PAGE, {"label": BIG, "resolution": "all"}),
        "dead letters, big, workflow": (LETTER_PAGE, {"label": BIG, "workflow": "{workflow}"}),
        "dead letters, quiet (none)": (LETTER_PAGE, {"label": QUIET}),
        "dead letters, rare, all": (LETTER_PAGE, {"label": RARE, "resolution": "all"}),
        "groups, big": (GROUP_PAGE, {"label": BIG}),
        "groups, big, all": (GROUP_PAGE, {"label": BIG, "status": "all"}),
        "groups, big, workflow": (GROUP_PAGE, {"label": BIG, "workflow": "{workflow}"}),
        "groups, quiet (none)": (GROUP_PAGE, {"label": QUIET}),
        "groups, rare": (GROUP_PAGE, {"label": RARE, "status": "all"}),
    },
    "executions": {
        "big": (EXECUTIONS, {"label": BIG}),
        "big, oldest first": (EXECUTIONS, {"label": BIG, "order": "asc"}),
        "big, failed": (EXECUTIONS, {"label": BIG, "state": "FAILED"}),
        "big, running": (EXECUTIONS, {"label": BIG, "state": "RUNNING"}),
        "big, one workflow": (EXECUTIONS, {"label": BIG, "workflowId": "{workflow}"}),
        "big, workflow, failed": (
            EXECUTIONS, {"label": BIG, "workflowId": "{workflow}", "state": "FAILED"},
        ),
        "big, by webhook (none)": (EXECUTIONS, {"label": BIG, "triggerType": "WEBHOOK"}),
        "quiet, failed (none)": (EXECUTIONS, {"label": QUIET, "state": "FAILED"}),
        "a rare customer": (EXECUTIONS, {"label": RARE}),
        "one order": (EXECUTIONS, {"label": ORDER}),
        "two labels": (EXECUTIONS, {"label": BOTH}),
        "unknown": (EXECUTIONS, {"label": UNKNOWN}),
        "counts": (f"{EXECUTIONS}/labels", {"name": "customer"}),
        "counts, failed": (f"{EXECUTIONS}/labels", {"name": "customer", "state": "FAILED"}),
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """One list, requested as one user."""

    section: str
    name: str
    who: str
    ask: Callable[[], Any]


def requests(sections: Sequence[str]) -> Iterator[Request]:
    """Yield each list as an administrator, then as a member of a large and of a small workspace."""
    people = list(_people())
    for section in sections:
        for who, api, pages, workflow in people:
            for name, (path, query) in LISTS[section].items():
                given = {key: value.replace("{workflow}", workflow) for key, value in query.items()}
                client = pages if path.startswith("/admin/") else api
                yield Request(section, name, who, _get(client, f"{path}?{urlencode(given)}"))


def _get(client: Any, path: str) -> Callable[[], Any]:
    return lambda: client.get(path)


def _people() -> Iterator[tuple[str, Any, Any, str]]:
    """Yield each user's name, their clients of the API and of the admin, and their workflow."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client
    from rest_framework.test import APIClient

    from executions.models import Membership, Workflow, Workspace

    settings.ALLOWED_HOSTS = ["*"]
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    users = get_user_model().objects
    for who, slug in (
        ("administrator", "team-0"), ("large team", "team-0"), ("small team", "team-39"),
    ):  # fmt: skip
        own = Workspace.objects.get(slug=slug)
        user = users.create_user(
            who.replace(" ", "-"), is_staff=True, is_superuser=who == "administrator"
        )
        if not user.is_superuser:
            Membership.objects.create(user=user, workspace=own, role="ADMIN")
        api, pages = APIClient(), Client()
        api.force_authenticate(user)
        pages.force_login(user)
        yield who, api, pages, str(Workflow.objects.get(workspace=own).pk)


def rows(answer: Any) -> int:
    """Return the number of rows in an answer of the API or of the admin."""
    context = getattr(answer, "context_data", None) or {}
    if "cl" in context:
        return len(context["cl"].result_list)
    data = getattr(answer, "data", None)
    if data is None:
        data = answer.json() if answer["Content-Type"] == "application/json" else []
    for name in ("values", "results"):
        data = data.get(name, data) if isinstance(data, dict) else data
    return len(data)
