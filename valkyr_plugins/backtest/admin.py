"""Admin pages of backtests, which users start from a workflow."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.public.access import Actor
from executions.public.admin import (
    AdminOperation,
    Cell,
    FactAdmin,
    OperatingAdmin,
    Page,
    PageSection,
    ReasonForm,
    WorkflowAdmin,
    done_to,
    facts,
    links,
    marks,
    may,
)
from executions.public.admin_skin import IntegerInput, Select, display
from executions.public.language import lazy
from executions.public.models import Permission
from valkyr_plugins.backtest import lifecycle, operations
from valkyr_plugins.backtest.groups import sorted_groups, text_of
from valkyr_plugins.backtest.models import UNFINISHED, Backtest, BacktestResult, BacktestState
from valkyr_plugins.backtest.verdicts import DIFFERENT, BacktestVerdict

MARKS = {
    BacktestState.PENDING: (lazy("pending"), "schedule", "grey"),
    BacktestState.RUNNING: (lazy("running"), "difference", "blue"),
    BacktestState.DONE: (lazy("done"), "check_circle", "green"),
    BacktestState.CANCELLED: (lazy("cancelled"), "block", "grey"),
    BacktestState.FAILED: (lazy("failed"), "error", "red"),
}
SHOWN = 100  # maximum results on the page
ENDS = (
    ("", lazy("all ended executions")),
    ("FAILED", lazy("failed executions only")),
    ("SUCCESS", lazy("successful executions only")),
)


class BacktestForm(ReasonForm):
    """The form of a backtest: the executions to compare, and the version to compare them with."""

    last = forms.IntegerField(
        label=lazy("Maximum executions (newest first)"),
        min_value=1,
        max_value=lifecycle.MOST,
        initial=lifecycle.DEFAULT,
        widget=IntegerInput,
    )
    state = forms.ChoiceField(label=lazy("Executions"), choices=ENDS, required=False, widget=Select)
    version = forms.IntegerField(
        label=lazy("Version"),
        min_value=1,
        required=False,
        widget=IntegerInput,
        help_text=lazy("Leave empty to compare the draft."),
    )
    field_order = ("last", "state", "version", "reason")


def _start(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Backtest:
    states = [data["state"]] if data.get("state") else []
    made: Backtest = operations.START.apply(pk, actor, {**data, "states": states})
    return made


def _page(backtest: Backtest) -> str:
    return links.page("valkyr_backtest_backtest", backtest.pk)


START = AdminOperation(
    replace(operations.START, apply=_start),
    title=lazy("Backtest…"),
    icon="difference",
    done=lazy("backtest started"),
    question=lazy(
        "Compares the draft or a published version with the records of past executions. No step "
        "with an effect runs, and no execution is started."
    ),
    form=BacktestForm,
    bulk=False,
    destination=_page,
)
CANCEL = AdminOperation(
    operations.CANCEL,
    title=lazy("Cancel backtest…"),
    icon="block",
    done=lazy("cancelled"),
    question=lazy("The results so far are kept."),
    bulk=False,
)


@admin.register(Backtest)
class BacktestAdmin(OperatingAdmin, FactAdmin):
    """Definitions compared with the records of past executions."""

    operations = (CANCEL,)
    list_display = ("__str__", "mark", "compared", "different", "created", "by")
    list_display_links = ("__str__",)
    list_select_related = ("workflow",)
    list_defer = ("definition", "groups", "by_step", "workflow__definition")
    list_filter = ("state",)
    search_ids = ("id", "workflow_id")
    search_texts = ("workflow__name", "workflow__slug")
    ordering = ("-id",)
    empty_text = lazy("No backtests yet. Start one from a workflow, before you publish its draft.")

    @display(description=lazy("state"))
    def mark(self, row: Backtest) -> Any:
        """Return the badge of the backtest's state."""
        return marks.mark(*MARKS[BacktestState(row.state)])

    @display(description=lazy("compared"))
    def compared(self, row: Backtest) -> str:
        """Return the progress, such as `25 of 100`; a dash before the total is known."""
        if row.total is None:
            return marks.EMPTY
        return gettext("{done} of {total}").format(done=f"{row.done:,}", total=f"{row.total:,}")

    @display(description=lazy("different"))
    def different(self, row: Backtest) -> str:
        """Return the number of executions that differ."""
        return f"{sum(row.counts.get(name, 0) for name in DIFFERENT):,}"

    @display(description=lazy("requested"))
    def created(self, row: Backtest) -> Any:
        """Return how long ago the backtest was requested."""
        return marks.ago(row.created_at)

    @display(description=lazy("requested by"))
    def by(self, row: Backtest) -> str:
        """Return the name of the user who requested the backtest."""
        return row.created_by_name

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page with the progress, groups, steps, and executions that differ."""
        sees = may(request, obj, Permission.VIEW_PAYLOADS)
        known = [
            (gettext("Workflow"), links.to("executions_workflow", obj.workflow_id, obj.workflow)),
            (gettext("Definition"), obj.compared),
            (gettext("Executions compared"), self.compared(obj)),
            *(
                (BacktestVerdict(name).label.capitalize(), f"{obj.counts.get(name, 0):,}")
                for name in BacktestVerdict
            ),
            (gettext("Error"), obj.error),
            (gettext("Requested"), marks.ago(obj.created_at)),
            (gettext("Requested by"), obj.created_by_name),
            (gettext("Ended"), marks.ago(obj.finished_at)),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]
        sections = [_groups(obj, sees=sees), _steps(obj), _executions(obj), done_to(obj.pk)]
        refresh = 2 if obj.state in UNFINISHED else 0
        return Page([self.mark(obj), str(obj)], facts(known), sections, refresh=refresh)


def _groups(backtest: Backtest, *, sees: bool) -> PageSection:
    found = sorted_groups((backtest.groups or {}).get("groups", ()))
    return PageSection(
        gettext("Differences by group"),
        headers=(gettext("Verdict"), gettext("Group"), gettext("Example execution")),
        rows=[
            [
                BacktestVerdict(group["verdict"]).label,
                text_of(group, values=sees),
                _execution(group["executions"][0]),
            ]
            for group in found
        ],
        empty=(
            gettext("No differences so far.")
            if backtest.state in UNFINISHED
            else gettext("No differences.")
        ),
    )


def _steps(backtest: Backtest) -> PageSection:
    names = list(BacktestVerdict)
    return PageSection(
        gettext("Verdicts by step"),
        headers=(gettext("Step"), *(name.label for name in names)),
        rows=[
            [marks.path(path), *(f"{counts.get(name, 0):,}" for name in names)]
            for path, counts in sorted(backtest.by_step.items())
        ],
        empty=gettext("No steps."),
        folded=True,
    )


def _executions(backtest: Backtest) -> PageSection:
    rows = BacktestResult.objects.filter(backtest=backtest).exclude(verdict=BacktestVerdict.SAME)
    found = list(rows.order_by("id").only("execution_id", "verdict")[:SHOWN])
    return PageSection(
        gettext("Executions that differ or cannot be compared (newest {number})").format(
            number=SHOWN
        ),
        headers=(gettext("Execution"), gettext("Verdict")),
        rows=[[_execution(row.execution_id), row.get_verdict_display()] for row in found],
        empty=gettext("None."),
        folded=True,
    )


def _execution(pk: Any) -> Cell:
    return links.to("executions_workflowexecution", pk, str(pk))


WorkflowAdmin.offer(START)
