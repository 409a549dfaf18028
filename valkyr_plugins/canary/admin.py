"""Canaries side by side with the latest version, rollbacks, and their buttons on workflows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext, ngettext

from dlq.public.dashboard import HomeProblem, HomeSection, add_section
from executions.public.access import Action, Actor
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
    scoped,
)
from executions.public.admin_skin import IntegerInput, Select, TextInput, display
from executions.public.language import lazy
from executions.public.models import Workflow
from valkyr_plugins.canary import figures, operations
from valkyr_plugins.canary.models import Canary, CanaryState, Treatment, VersionRollback
from valkyr_plugins.canary.stop_rule import StopRule

RULE = StopRule()
MARKS = {
    CanaryState.RUNNING: (lazy("running"), "science", "blue"),
    CanaryState.STOPPED: (lazy("stopped"), "block", "red"),
    CanaryState.PROMOTED: (lazy("promoted"), "check_circle", "green"),
    CanaryState.REPLACED: (lazy("replaced"), "swap_horiz", "grey"),
}
SHOWN = 8  # on the home page


def _number(**attrs: Any) -> TextInput:
    return TextInput(attrs={"autocomplete": "off", "inputmode": "decimal", **attrs})


# The forms.


class CanaryForm(ReasonForm):
    """The share of a canary, and when it stops or is promoted by itself."""

    percent = forms.FloatField(
        label=lazy("Share of new executions, in percent"),
        min_value=0.01,
        max_value=100,
        initial=5,
        widget=_number(),
        help_text=lazy("Executions with the same key use the same version."),
    )
    failure_rate = forms.FloatField(
        label=lazy("Stop above this failure rate, in percent"),
        required=False,
        min_value=0,
        max_value=100,
        initial=RULE.failure_rate,
        widget=_number(),
        help_text=lazy("Leave empty for no limit."),
    )
    at_least = forms.IntegerField(
        label=lazy("Compare after this many ended executions"),
        min_value=1,
        max_value=figures.MOST,
        initial=RULE.at_least,
        widget=IntegerInput,
        help_text=lazy("Until then, only a clearly higher failure rate stops the canary."),
    )
    slower = forms.FloatField(
        label=lazy("Stop if slower by this factor"),
        required=False,
        min_value=1,
        max_value=1_000,
        widget=_number(),
        help_text=lazy("Compares the 95th percentiles. Leave empty for no limit."),
    )
    new_group = forms.IntegerField(
        label=lazy("Stop at this many dead letters of a new kind"),
        required=False,
        min_value=1,
        initial=RULE.new_group,
        widget=IntegerInput,
        help_text=lazy("Leave empty for no limit."),
    )
    promote_hours = forms.FloatField(
        label=lazy("Promote after this many hours"),
        required=False,
        min_value=0.01,
        max_value=400 * 24,
        widget=_number(),
        help_text=lazy("Leave empty to promote it manually."),
    )
    field_order = (
        "percent", "failure_rate", "at_least", "slower", "new_group", "promote_hours", "reason",
    )  # fmt: skip


class RollbackForm(ReasonForm):
    """The treatment of the executions that started on the withdrawn version."""

    executions = forms.ChoiceField(
        label=lazy("Executions that started on the version"),
        choices=Treatment.choices,
        initial=Treatment.LEAVE,
        widget=Select,
        help_text=lazy(
            "A fork continues from the step that failed or had not ended. Earlier steps do not run "
            "again."
        ),
    )
    field_order = ("executions", "reason")


def _asked(data: Mapping[str, Any]) -> dict[str, Any]:
    rule = StopRule(**{k: data[k] for k in ("at_least", "failure_rate", "slower", "new_group")})
    hours = data["promote_hours"]
    after = None if hours is None else hours * 3_600
    return {"rule": rule, "promote_after": after, **data}


def _begin(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Canary:
    made: Canary = operations.BEGIN.apply(pk, actor, _asked(data))
    return made


def _change(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Canary:
    changed: Canary = operations.CHANGE.apply(pk, actor, _asked(data))
    return changed


def _withdraw(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> VersionRollback:
    """Roll back the version of a canary, also one that has ended."""
    canary = Canary.objects.select_related("version").only("workflow_id", "version__number")
    row = canary.get(pk=pk)
    given = {**data, "version": row.version.number}
    made: VersionRollback = operations.ROLL_BACK.apply(row.workflow_id, actor, given)
    return made


def _refuse_promoted(row: Canary) -> str:
    ended_well = row.state == CanaryState.PROMOTED and row.version.withdrawn_at is None
    is_latest = row.workflow.latest_version_id == row.version_id
    return gettext("A later version was published.") if ended_well and not is_latest else ""


def _canary_page(canary: Canary) -> str:
    return links.page("valkyr_canary_canary", canary.pk)


def _rollback_page(rollback: VersionRollback) -> str:
    return links.page("valkyr_canary_versionrollback", rollback.pk)


BEGIN = AdminOperation(
    replace(operations.BEGIN, apply=_begin),
    title=lazy("Publish canary…"),
    icon="science",
    done=lazy("published as a canary"),
    question=lazy(
        "Publishes the draft for a share of new executions. The others, and the triggers, keep the "
        "latest version."
    ),
    form=CanaryForm,
    bulk=False,
    destination=_canary_page,
)
ROLL_BACK = AdminOperation(
    operations.ROLL_BACK,
    title=lazy("Roll back…"),
    icon="undo",
    done=lazy("rolled back"),
    question=lazy(
        "Withdraws the canary if one is running, else the latest version. New executions and "
        "triggers use the previous version at once."
    ),
    form=RollbackForm,
    danger=True,
    bulk=False,
    destination=_rollback_page,
)
PROMOTE = AdminOperation(
    operations.PROMOTE,
    title=lazy("Promote…"),
    icon="arrow_upward",
    done=lazy("promoted"),
    question=lazy("Makes the canary the latest version. All new executions and triggers use it."),
    primary=True,
    bulk=False,
)
STOP = AdminOperation(
    operations.STOP,
    title=lazy("Stop canary…"),
    icon="block",
    done=lazy("stopped"),
    question=lazy(
        "All new executions use the latest version again. Executions on the canary continue."
    ),
    danger=True,
    bulk=False,
)
CHANGE = AdminOperation(
    replace(operations.CHANGE, apply=_change),
    title=lazy("Change share…"),
    icon="tune",
    done=lazy("changed"),
    question=lazy("A larger share keeps the keys that already use the canary."),
    form=CanaryForm,
    bulk=False,
)
WITHDRAW = AdminOperation(
    replace(operations.ROLL_BACK, name="withdraw", apply=_withdraw, refuse=_refuse_promoted),
    title=lazy("Roll back…"),
    icon="undo",
    done=lazy("rolled back"),
    question=lazy(
        "Withdraws the version if new executions still use it. Then leaves, cancels or forks the "
        "executions that started on it."
    ),
    form=RollbackForm,
    danger=True,
    bulk=False,
    destination=_rollback_page,
)


# The pages.


@admin.register(Canary)
class CanaryAdmin(OperatingAdmin, FactAdmin):
    """Versions that a share of new executions use."""

    operations = (PROMOTE, STOP, CHANGE, WITHDRAW)
    list_display = ("__str__", "mark", "share", "created", "why")
    list_display_links = ("__str__",)
    list_select_related = ("version__workflow", "latest", "workflow")
    list_defer = (
        "version__source", "version__definition", "version__workflow__definition",
        "latest__source", "latest__definition", "workflow__definition", "figures",
    )  # fmt: skip
    list_filter = ("state",)
    search_ids = ("id", "workflow_id")
    search_texts = ("workflow__name", "workflow__slug")
    ordering = ("-id",)
    empty_text = lazy(
        "No canaries yet. Publish a version for a share of a workflow's new executions."
    )

    @display(description=lazy("state"))
    def mark(self, row: Canary) -> Any:
        """Return the canary's state as word, icon and colour."""
        return mark_of(row)

    @display(description=lazy("share"))
    def share(self, row: Canary) -> str:
        """Return the canary's share of new executions."""
        return f"{row.percent:g} %"

    @display(description=lazy("published"))
    def created(self, row: Canary) -> Any:
        """Return when the canary was published."""
        return marks.ago(row.created_at)

    @display(description=lazy("reason"))
    def why(self, row: Canary) -> str:
        """Return why the canary ended."""
        return marks.clipped(row.reason) or marks.EMPTY

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the canary, both versions side by side, and its history."""
        found = obj.figures or figures.as_json(figures.compare(obj))
        known = [
            (
                gettext("Workflow"),
                links.to("executions_workflow", obj.workflow_id, obj.workflow),
            ),
            (gettext("Share"), self.share(obj)),
            (gettext("Reason"), obj.reason),
            (gettext("Stops"), _rule(figures.rule_of(obj))),
            (gettext("Promoted automatically"), marks.ago(obj.promote_at)),
            (gettext("Published"), marks.ago(obj.created_at)),
            (gettext("Published by"), obj.created_by_name),
            (gettext("Ended"), marks.ago(obj.ended_at)),
            (gettext("Ended by"), obj.ended_by_name),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]
        return Page(
            [mark_of(obj), str(obj)],
            facts(known),
            [_sides(obj, found), _groups(obj, found), done_to(obj.pk)],
        )


@admin.register(VersionRollback)
class VersionRollbackAdmin(FactAdmin):
    """Withdrawn versions, and the treatment of their executions."""

    list_display = ("__str__", "treatment", "created", "finished", "counts")
    list_select_related = ("bad__workflow", "good", "workflow")
    list_defer = (
        "bad__source", "bad__definition", "bad__workflow__definition", "good__source",
        "good__definition", "workflow__definition",
    )  # fmt: skip
    list_filter = ("treatment",)
    search_ids = ("id", "workflow_id")
    search_texts = ("workflow__name", "workflow__slug")
    ordering = ("-id",)
    empty_text = lazy("No rollbacks yet.")

    @display(description=lazy("when"))
    def created(self, row: VersionRollback) -> Any:
        """Return when the rollback was requested."""
        return marks.ago(row.created_at)

    @display(description=lazy("finished"))
    def finished(self, row: VersionRollback) -> Any:
        """Return when the executions were settled."""
        return marks.EMPTY if row.finished_at is None else marks.ago(row.finished_at)

    @display(description=lazy("executions"))
    def counts(self, row: VersionRollback) -> str:
        """Return how many executions were settled."""
        return gettext("{cancelled} cancelled, {forked} forked, {failed} not settled").format(
            cancelled=row.cancelled, forked=row.forked, failed=row.failed
        )

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the rollback, and the executions that could not be settled."""
        started = links.listing("executions_workflowexecution", version=obj.bad_id)
        known = [
            (gettext("Workflow"), links.to("executions_workflow", obj.workflow_id, obj.workflow)),
            (gettext("Withdrawn"), f"v{obj.bad.number}"),
            (gettext("Current version"), f"v{obj.good.number}"),
            (
                gettext("Executions"),
                links.link(started, gettext("started on the withdrawn version")),
            ),
            (gettext("Action"), obj.get_treatment_display()),
            (gettext("Result"), self.counts(obj)),
            (gettext("Reason"), obj.reason),
            (gettext("By"), obj.created_by_name),
            (gettext("When"), marks.ago(obj.created_at)),
            (gettext("Finished"), marks.ago(obj.finished_at)),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]
        refused = PageSection(
            gettext("Executions that could not be cancelled or forked"),
            headers=(gettext("Execution"), gettext("Reason")),
            rows=[
                [links.to("executions_workflowexecution", one["id"], one["id"]), one["reason"]]
                for one in obj.refused
            ],
            empty=gettext("None."),
        )
        return Page([str(obj)], facts(known), [refused])


def mark_of(row: Canary) -> Any:
    """Return the state's word, icon and colour."""
    return marks.mark(*MARKS[CanaryState(row.state)])


def _rule(rule: StopRule | None) -> str:
    if rule is None:
        return gettext("manually only")
    texts = []
    if rule.failure_rate is not None:
        texts.append(gettext("above {rate} % failures").format(rate=f"{rule.failure_rate:g}"))
    if rule.slower is not None:
        texts.append(gettext("if {factor} times slower").format(factor=f"{rule.slower:g}"))
    if rule.new_group is not None:
        texts.append(gettext("at {count} dead letters of a new kind").format(count=rule.new_group))
    return ", ".join(texts) or gettext("manually only")


def _sides(canary: Canary, found: Mapping[str, Any]) -> PageSection:
    def row(version: Any, side: Mapping[str, Any]) -> list[Cell]:
        costs = [f"{one['perExecution']} {one['currency']}" for one in side["costs"]]
        address = links.listing("executions_workflowexecution", version=version.pk)
        return [
            links.link(address, f"v{version.number}"),
            f"{side['started']:,}",
            f"{side['ended']:,}",
            f"{side['failed']:,}",
            _known(side["failure_rate"], " %"),
            _known(side["p50_seconds"], " s"),
            _known(side["p95_seconds"], " s"),
            ", ".join(costs) or marks.EMPTY,
        ]

    return PageSection(
        gettext("Both versions since the canary began"),
        headers=(
            gettext("Version"),
            gettext("Started"),
            gettext("Completed"),
            gettext("Failed"),
            gettext("Failure rate"),
            "p50",
            "p95",
            gettext("Cost per execution"),
        ),
        rows=[row(canary.version, found["canary"]), row(canary.latest, found["latest"])],
    )


def _groups(canary: Canary, found: Mapping[str, Any]) -> PageSection:
    def name(group: Mapping[str, Any]) -> Cell:
        return links.to("dlq_failuregroup", group["id"], group["name"])

    return PageSection(
        gettext("Dead letters by failure group"),
        headers=(
            gettext("Failure group"),
            f"v{canary.version.number}",
            f"v{canary.latest.number}",
            gettext("New"),
        ),
        rows=[
            [
                name(one),
                f"{one['canary']:,}",
                f"{one['latest']:,}",
                gettext("only in this version") if one["is_new"] else marks.EMPTY,
            ]
            for one in found["groups"]
        ],
        empty=gettext("No dead letters of the canary version."),
    )


def _known(value: float | None, unit: str) -> str:
    return marks.EMPTY if value is None else f"{value:.3g}{unit}"


# On the pages of workflows, and on the home page.


def _open_canary(admin: OperatingAdmin, request: HttpRequest, pk: str) -> HttpResponse:
    found = scoped(request, Canary.objects.filter(workflow_id=pk)).order_by("-id").first()
    if found is None:
        return HttpResponseRedirect(links.page("executions_workflow", pk))
    return HttpResponseRedirect(_canary_page(found))


def _has_canary(row: Workflow) -> bool:
    return Canary.objects.filter(workflow_id=row.pk).exists()


WorkflowAdmin.offer(BEGIN, ROLL_BACK)
WorkflowAdmin.show(
    "open_canary", lazy("Canary"), "science", _open_canary, needs=Action.VIEW, fits=_has_canary
)


def _running(request: HttpRequest) -> list[Canary]:
    rows = Canary.objects.filter(state=CanaryState.RUNNING).select_related("version__workflow")
    shown = rows.defer("version__source", "version__definition", "version__workflow__definition")
    return list(scoped(request, shown).order_by("-created_at")[:SHOWN])


def _problem(number: int) -> HomeProblem:
    text = ngettext("{number} canary is running", "{number} canaries are running", number)
    return HomeProblem(text.format(number=number), "science", links.listing("valkyr_canary_canary"))


add_section(
    HomeSection(
        name="canaries",
        title=lazy("Running canaries"),
        headers=(lazy("Version"), lazy("Share"), lazy("Published")),
        gather=_running,
        rows=lambda found: [
            [_canary_link(row), f"{row.percent:g} %", marks.ago(row.created_at)] for row in found
        ],
        problem=_problem,
    )
)


def _canary_link(row: Canary) -> Cell:
    return links.to("valkyr_canary_canary", row.pk, str(row.version))
