"""Sessions and their devices: users see and end their own sessions, and superusers all sessions."""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext

from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.access.people import name_path
from executions.access.powers import Power
from executions.accounts import browser_sessions, sessions
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.base import FactAdmin
from executions.admin.operations import AdminOperation
from executions.admin.scope import is_superuser
from executions.admin.sections import Page, facts
from executions.admin.skin import ActionVariant, DialogForm, dialog, display
from executions.language import lazy
from executions.models import AccountSession
from executions.states import SessionKind


def _end(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    sessions.end(pk, actor=actor, reason=data["reason"])


END = AdminOperation(
    Operation(
        name="end",
        apply=_end,
    ),
    title=lazy("End session…"),
    icon="logout",
    done=lazy("ended"),
    question=lazy("The session's tokens and cookie stop working immediately."),
    danger=True,
)
OTHERS = {
    "title": lazy("End all other sessions"),
    "description": lazy(
        "You stay signed in here. All your other browsers and programs that signed in "
        "with your password must sign in again. API tokens are not affected."
    ),
    "form_submit_text": lazy("End all other sessions"),
    "danger": True,
}


@admin.register(AccountSession)
class AccountSessionAdmin(OperatingAdmin, FactAdmin):
    """The live sessions of the user; superusers see those of all users."""

    operations = (END,)
    actions_list: ClassVar[Any] = ("end_others",)
    list_display = ("began", "user", "how", "device", "address", "used", "last_used_from", "until")
    list_display_links = ("began",)
    list_select_related = ("user",)
    ordering = ("-id",)
    search_ids = ("id",)
    search_texts = (name_path(), "user_agent")
    empty_text = lazy("No live sessions.")

    def scope(self, request: HttpRequest, rows: QuerySet[Any], action: Power) -> QuerySet[Any]:
        """Return the user's live sessions; all live sessions for a superuser."""
        live = sessions.live(rows)
        return live if is_superuser(request) else live.filter(user=request.user.pk)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow users to see their own sessions, and superusers to see all sessions."""
        return obj is None or is_superuser(request) or bool(obj.user_id == request.user.pk)

    def has_end_others_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow all users to end their own other sessions."""
        return True

    def may_operate(self, request: HttpRequest, operation: AdminOperation, row: Any = None) -> bool:
        """Allow every user who sees a session to end it."""
        return self.has_view_permission(request, row)

    def end_others(self, request: HttpRequest) -> HttpResponse:
        """Show a dialog; once confirmed, end the user's sessions except this browser's session."""
        form = DialogForm(data=request.POST or None, request=request)
        if request.method != "POST" or not form.is_valid():
            context = {"form": form, "dialog": OTHERS}
            return dialog(self, request, context)
        kept = browser_sessions.current(request)
        ended = sessions.end_others(request.user, kept, actor=Actor.of_request(request))
        done = gettext("Other sessions ended: {ended}.").format(ended=ended)
        self.message_user(request, done, messages.SUCCESS)
        target = links.listing("executions_accountsession")
        if request.headers.get("HX-Request"):
            return HttpResponse(headers={"HX-Redirect": target})
        return HttpResponseRedirect(target)

    end_others.__dict__.update(
        {
            "allowed_permissions": ("end_others",),
            "short_description": lazy("End all other sessions…"),
            "url_path": "end-others",
            "icon": "logout",
            "dialog": {"title": lazy("End all other sessions…")},
            "variant": ActionVariant.DEFAULT,
            "attrs": {},
        }
    )

    @display(description=lazy("signed in"))
    def began(self, row: AccountSession) -> Any:
        """Return the time since the session began."""
        return marks.ago(row.created_at)

    @display(description=lazy("kind"))
    def how(self, row: AccountSession) -> Any:
        """Return the kind of the session: browser or tokens."""
        icon = "key" if row.kind == SessionKind.TOKEN else "computer"
        return marks.mark(row.get_kind_display(), icon, "grey")

    @display(description=lazy("device"))
    def device(self, row: AccountSession) -> str:
        """Return the beginning of the client's User-Agent; a dash if there is none."""
        return marks.clipped(row.user_agent, 60) or marks.EMPTY

    @display(description=lazy("last used"))
    def used(self, row: AccountSession) -> Any:
        """Return the time since the session was last used."""
        return marks.ago(row.last_used_at)

    @display(description=lazy("expires"))
    def until(self, row: AccountSession) -> Any:
        """Return the time until the session expires."""
        return marks.ago(row.expires_at)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a session: its user, device, addresses and times."""
        here = obj.pk == browser_sessions.current(request)
        return Page(
            [gettext("this browser")] if here else [],
            facts(
                [
                    (gettext("User"), obj.user.get_username()),
                    (gettext("Kind"), obj.get_kind_display()),
                    (gettext("Device"), obj.user_agent),
                    (gettext("Signed in"), marks.ago(obj.created_at)),
                    (gettext("Signed in from"), obj.address),
                    (gettext("Last used"), marks.ago(obj.last_used_at)),
                    (gettext("Last used from"), obj.last_used_from),
                    (gettext("Expires"), marks.ago(obj.expires_at)),
                    (gettext("ID"), marks.copyable(obj.pk)),
                ]
            ),
        )
