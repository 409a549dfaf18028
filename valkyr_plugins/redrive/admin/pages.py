"""Redrives in the admin: a list, a page for preview and progress, and a form."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.utils.translation import gettext, gettext_noop, ngettext

from dlq.public.models import DeadLetterEntry, FailureGroup
from executions.public.access import Action, Actor, Operation
from executions.public.admin import (
    AdminOperation,
    FactAdmin,
    OperatingAdmin,
    Page,
    PageSection,
    TabFilter,
    done_to,
    facts,
    holds,
    links,
    marks,
    scoped,
    user_of,
)
from executions.public.admin_skin import display
from executions.public.language import lazy
from executions.public.models import Permission
from valkyr_plugins.redrive import lifecycle
from valkyr_plugins.redrive.admin import panels
from valkyr_plugins.redrive.admin.forms import Chosen, StartForm, ask
from valkyr_plugins.redrive.items import held_by
from valkyr_plugins.redrive.models import Redrive, RedriveScope, RedriveState, sources
from valkyr_plugins.redrive.options import check_start


def _unless(target: str, *states: str) -> Callable[[Any], str]:
    """Return a check that rejects redrives that cannot move to `target`.

    With `states`, the check instead rejects redrives that are in none of these states.
    """
    allowed = states or sources(target)

    def refuse(row: Redrive) -> str:
        if row.state in allowed:
            return ""
        return gettext("Not available: this redrive is {label}.").format(
            label=RedriveState(row.state).label
        )

    return refuse


def _moving(move: Callable[..., Any]) -> Callable[[UUID, Actor, Mapping[str, Any]], Any]:
    return lambda pk, actor, data: move(pk, actor=actor, reason=data["reason"])


def _sending(move: Callable[..., Any]) -> Callable[[UUID, Actor, Mapping[str, Any]], Any]:
    """Return `move` as an operation that first checks the user's permissions on each entry."""

    def moved(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
        check_start(user_of(actor), Redrive.objects.get(pk=pk))
        return move(pk, actor=actor, reason=data["reason"])

    return moved


START = AdminOperation(
    Operation(
        name="start",
        apply=_sending(lifecycle.start),
        needs=Permission.REDRIVE,
        refuse=_unless("RUNNING", "DRAFT"),
    ),
    title=lazy("Start…"),
    icon="play_arrow",
    done=lazy("started"),
    question=lazy(
        "Reserves the dead letters and requeues them at the rate you set. Skips dead letters that "
        "are closed or that another redrive has reserved."
    ),
    form=StartForm,
    primary=True,
    bulk=False,
)
PAUSE = AdminOperation(
    Operation(
        name="pause",
        apply=_moving(lifecycle.pause),
        needs=Permission.REDRIVE,
        refuse=_unless("PAUSED"),
    ),
    title=lazy("Pause…"),
    icon="pause_circle",
    done=lazy("paused"),
    question=lazy("Stops sending. Steps that were sent continue."),
)
RESUME = AdminOperation(
    Operation(
        name="resume",
        apply=_sending(lifecycle.resume),
        needs=Permission.REDRIVE,
        refuse=_unless("RUNNING", "PAUSED", "STOPPED"),
    ),
    title=lazy("Resume…"),
    icon="play_circle",
    done=lazy("resumed"),
    question=lazy("Continues the redrive. After a stop, failures are counted from zero."),
    primary=True,
)
ABORT = AdminOperation(
    Operation(
        name="abort",
        apply=_moving(lifecycle.abort),
        needs=Permission.REDRIVE,
        refuse=_unless("ABORTED"),
    ),
    title=lazy("Abort…"),
    icon="cancel",
    done=lazy("aborted"),
    question=lazy(
        "Stops sending permanently. Steps that were sent continue. The other dead letters stay "
        "open."
    ),
    danger=True,
)


class StateFilter(TabFilter):
    """Filters redrives by groups of states, as tabs."""

    title = lazy("state")
    parameter_name = field = "state"
    groups = {
        "running": ("RUNNING", "PAUSED", "STOPPED"),
        gettext_noop("drafts"): ("DRAFT",),
        "done": ("DONE",),
        "aborted": ("ABORTED",),
    }


@admin.register(Redrive)
class RedriveAdmin(OperatingAdmin, FactAdmin):
    """Redrives, which users create and the duty `valkyr_redrive.drive` runs."""

    operations = (START, PAUSE, RESUME, ABORT)
    list_display = ("what", "mark", "bar", "failed", "who", "why", "created")
    list_display_links = ("what",)
    list_select_related = ("group__workflow",)
    list_filter = (StateFilter,)
    list_before_template = "redrive/list.html"
    list_defer = ("selection", "overrides", "expression", "group__workflow__definition")
    ordering = ("-id",)
    empty_text = lazy(
        "No redrives yet. Select dead letters or open a failure group, then choose “Redrive”."
    )
    search_ids = ("id", "group_id")
    search_texts = ("reason", "created_by_name")

    def get_urls(self) -> Any:
        """Return the URL of the form for a new redrive, and then the admin's URLs."""
        view = self.admin_site.admin_view(self.new)
        return [path("new/", view, name="valkyr_redrive_redrive_new"), *super().get_urls()]

    def new(self, request: HttpRequest) -> HttpResponse:
        """Show or submit the form for a redrive of `?group=`, or of the entries in `?ids=a,b`."""
        if not holds(request, Permission.REDRIVE):
            raise PermissionDenied(gettext("You need the permission redrive."))
        return ask(request, _named(request), sent=request.method == "POST")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list; the template's context says whether rows still change."""
        answer = super().changelist_view(request, extra_context)
        context = getattr(answer, "context_data", None) or {}
        if "cl" in context:
            context["live_rows"] = any(row.busy for row in context["cl"].result_list)
        return answer

    @display(description=lazy("selection"))
    def what(self, row: Redrive) -> Any:
        """Return the redrive's workflow and group, or its number of dead letters."""
        return (
            marks.clipped(f"{row.group.workflow.name}, {row.group}", 80)
            if row.group
            else ngettext("{total:,} dead letter", "{total:,} dead letters", row.total).format(
                total=row.total
            )
        )

    @display(description=lazy("state"))
    def mark(self, row: Redrive) -> Any:
        """Return the state as a word with an icon and a colour."""
        return panels.state_mark(row)

    @display(description=lazy("ended"))
    def bar(self, row: Redrive) -> Any:
        """Return a bar that shows how many entries have ended."""
        return panels.bar(row)

    @display(description=lazy("failed again"))
    def failed(self, row: Redrive) -> str:
        """Return how many entries failed again."""
        return f"{row.failed_again:,}"

    @display(description=lazy("created by"))
    def who(self, row: Redrive) -> str:
        """Return the name of the user who created the redrive."""
        return row.created_by_name

    @display(description=lazy("reason"))
    def why(self, row: Redrive) -> str:
        """Return the redrive's reason."""
        return marks.clipped(row.reason, 60) or marks.EMPTY

    @display(description=lazy("created"))
    def created(self, row: Redrive) -> Any:
        """Return how long ago the redrive was created."""
        return marks.ago(row.created_at)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the preview of a draft redrive, or the counts and items of any other redrive."""
        if obj.state == RedriveState.DRAFT:
            sections = panels.sections(request, obj)
        else:
            sections = [panels.counts(obj), panels.chosen(request, obj)]
        lead: list[Any] = [self.mark(obj), panels.sentence(obj)]
        if obj.stop_reason:
            sections.insert(
                0, PageSection(gettext("Reason for the stop"), body=obj.stop_reason, error=True)
            )
        if obj.state == RedriveState.RUNNING and (held := held_by(obj)):
            sections.insert(0, PageSection(gettext("Reason for the wait"), body=held))
        refresh = 2 if obj.state == RedriveState.RUNNING else 0
        sections.append(done_to(obj.pk))
        return Page(lead, facts(self._facts(obj)), sections, refresh=refresh)

    def _facts(self, obj: Redrive) -> list[tuple[str, Any]]:
        group = obj.group and links.to("dlq_failuregroup", obj.group_id, obj.group)
        return [
            (gettext("Group"), group),
            (gettext("Scope"), str(RedriveScope(obj.scope).label)),
            (gettext("From step"), obj.from_step),
            (gettext("Version"), "" if obj.scope == RedriveScope.STEP else obj.version),
            (gettext("Changes"), marks.clipped(panels.wanted(obj), 200)),
            (gettext("Maximum per second"), "" if obj.rate is None else f"{obj.rate:g}"),
            (gettext("Maximum in progress"), obj.max_in_flight or ""),
            (gettext("Canary"), obj.canary or ""),
            (gettext("Failure limit"), "" if obj.stop_above is None else f"{obj.stop_above:g} %"),
            (gettext("Created by"), obj.created_by_name),
            (gettext("Created"), marks.ago(obj.created_at)),
            (gettext("Started"), marks.ago(obj.started_at)),
            (gettext("Finished"), marks.ago(obj.finished_at)),
            (gettext("Reason"), obj.reason),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]


def _named(request: HttpRequest) -> Chosen:
    """Return the visible entries of `?group=` or `?ids=`. Raises BadRequest or PermissionDenied."""
    rows = scoped(request, DeadLetterEntry.objects.all(), Action.VIEW)
    group, ids = request.GET.get("group", ""), request.GET.get("ids", "")
    try:
        group_id = UUID(group) if group else None
        wanted = [UUID(text) for text in ids.split(",") if text][:1_000]
    except ValueError:
        raise BadRequest(
            gettext("group and ids must be IDs of failure groups and dead letters.")
        ) from None
    if group_id is not None:
        return _of_group(request, rows, group_id)
    if not wanted:
        raise BadRequest(
            gettext("No dead letters selected. Add ?group=<id> or ?ids=<id>,<id> to the URL.")
        )
    return Chosen(
        rows=rows.filter(pk__in=wanted),
        selection={"ids": [str(pk) for pk in wanted]},
        title=gettext("the selected dead letters"),
        back=reverse("admin:dlq_deadletterentry_changelist"),
    )


def _of_group(request: HttpRequest, rows: Any, group_id: UUID) -> Chosen:
    group = scoped(request, FailureGroup.objects.filter(pk=group_id), Action.VIEW).first()
    if group is None:
        raise PermissionDenied(
            gettext("Failure group {group_id} not found, or you do not have access.").format(
                group_id=group_id
            )
        )
    return Chosen(
        rows=rows.filter(group=group),
        selection={"groupId": str(group_id)},
        title=gettext("the failure group {group}").format(group=group),
        back=links.page("dlq_failuregroup", group.pk),
        group_id=group_id,
    )
