"""The studio's empty page; its attributes hold the user's data and the URLs."""

import json
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import render

from executions import addresses
from executions.access import Action, Forbidden, Powers, obtain, powers_on, workspaces_of
from executions.api.page_headers import View, csrf_header, own_page
from executions.bundles.managed import git_state
from executions.credentials import KINDS
from executions.errors import NotFound
from executions.models import Workflow, WorkflowVersion
from executions.states import Permission

# The placeholder for an id in the addresses that the scripts complete.
ANY = UUID(int=0)


def signed_in(view: View) -> View:
    """Wrap a view: redirect anonymous users to the sign-in page, which returns them to the view."""

    def guarded(request: HttpRequest, **named: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return view(request, **named)
        return redirect_to_login(request.get_full_path(), addresses.sign_in())

    return guarded


@own_page()  # React and React Flow set styles through the CSSOM, which needs no CSP exception
@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """Return the page that lists the user's workflows; authors can also create workflows on it."""
    may_author = bool(workspaces_of(request.user, Action.AUTHOR))
    return _frame(request, "Studio", {"can-edit": may_author})


@own_page()  # React and React Flow set styles through the CSSOM, which needs no CSP exception
@signed_in
def workflow(request: HttpRequest, workflow_id: UUID) -> HttpResponse:
    """Return a workflow's editor. Raises Http404 (unknown or archived) or PermissionDenied."""
    rows = Workflow.objects.filter(archived_at=None).defer("definition")
    try:
        found, may = obtain(request.user, rows, workflow_id, Action.VIEW)
    except NotFound as error:
        raise Http404(error.message) from error
    except Forbidden as error:
        raise PermissionDenied(error.message) from error
    facts = _facts(found, may)
    if found.origin:
        facts["can-take-over"] = powers_on(request.user, found.workspace_id).allows(Action.AUTHOR)
    elif powers_on(request.user, found.workspace_id).allows(Permission.CONFIGURE):
        facts["can-configure"] = True
    return _frame(request, found.name, facts)


def _facts(found: Workflow, may: Powers) -> dict[str, Any]:
    edits = may.allows(Action.AUTHOR) and not found.origin  # otherwise, the code is the draft
    git = git_state(found)
    return {
        "from-git": git.managed,
        "git-commit": git.short_commit,
        "git-repository": git.repository,
        "published-from-git": git.locked,
        "workflow": found.pk,
        "workspace": found.workspace_id,
        "origin": found.origin_place,
        "can-edit": edits,
        "can-publish": edits and not git.locked,
        "can-take-over": False,
        "can-configure": False,
        "credential-types": json.dumps(_credential_types()),
        "can-run": may.allows(Action.TRIGGER),
        "can-operate": may.allows(Action.OPERATE),
        "can-see-payloads": may.allows(Permission.VIEW_PAYLOADS),
        "canary-version": _canary_number(found),
        "canary-percent": found.canary_percent or 0,
        "migrate-page": _migrate_page(found, may),
        "has-canaries": addresses.has("workflow-rollbacks", id=found.pk),
        "has-backtests": addresses.has("workflow-backtest", id=found.pk),
        "workflow-page": addresses.admin_or_none("executions_workflow_change", found.pk),
    }


def _canary_number(found: Workflow) -> int:
    """Return the number of the canary version; 0 if there is none."""
    if found.canary_version_id is None:
        return 0
    return WorkflowVersion.objects.values_list("number", flat=True).get(pk=found.canary_version_id)


def _migrate_page(found: Workflow, may: Powers) -> str:
    """Return the URL of the page that migrates executions; "" if unavailable to the user."""
    if not (may.allows(Action.AUTHOR) and may.allows(Action.OPERATE)):
        return ""
    return addresses.admin_or_none("executions_workflow_operate_migrate", found.pk) or ""


def _credential_types() -> list[dict[str, Any]]:
    """Return what the form that creates a credential needs to know about each credential type."""
    return [
        {
            "name": kind.name,
            "title": kind.title,
            "fields": [*kind.fields],
            "optional": [*kind.optional],
            "known": sorted(kind.known),
            # If the type suggests no host, the form asks for the allowed hosts.
            "suggestsHosts": bool(kind.hosts or kind.address),
            # Modules that can use the type without naming it. Only types without fixed fields, and
            # types with an issuer, provide values of any kind.
            "modules": [] if kind.fields and kind.issuer is None else [*kind.modules],
        }
        for kind in KINDS.values()
    ]


def _frame(request: HttpRequest, title: str, facts: dict[str, Any]) -> HttpResponse:
    places = {
        "username": request.user.get_username(),
        "api": addresses.root(),
        # A project may rename the cookie and the header, or have no such cookie.
        "csrf-cookie": settings.CSRF_COOKIE_NAME,
        "csrf-header": csrf_header(),
        "csrf-token": get_token(request),
        "home": addresses.api("studio"),
        "admin": addresses.admin_or_none("index"),
        "sign-in": addresses.sign_in(),
        "credentials-page": addresses.admin_or_none("executions_credential_changelist"),
        "execution-page": addresses.admin_or_none("executions_workflowexecution_change", ANY),
    }
    told = {name: _told(value) for name, value in (places | facts).items()}
    return render(request, "executions/studio.html", {"title": title, "facts": told})


def _told(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
