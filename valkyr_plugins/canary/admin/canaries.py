"""Admin pages of canaries, each compared with the latest version."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext

from executions.public.admin import (
    Cell,
    FactAdmin,
    OperatingAdmin,
    Page,
    PageSection,
    done_to,
    facts,
    links,
    marks,
)
from executions.public.admin_skin import display
from executions.public.language import lazy
from valkyr_plugins.canary import figures
from valkyr_plugins.canary.admin.buttons import CHANGE, PROMOTE, STOP, WITHDRAW
from valkyr_plugins.canary.models import Canary, CanaryState
from valkyr_plugins.canary.stop_rule import StopRule

MARKS = {
    CanaryState.RUNNING: (lazy("running"), "science", "blue"),
    CanaryState.STOPPED: (lazy("stopped"), "block", "red"),
    CanaryState.PROMOTED: (lazy("promoted"), "check_circle", "green"),
    CanaryState.REPLACED: (lazy("replaced"), "swap_horiz", "grey"),
}


@admin.register(Canary)
class CanaryAdmin(OperatingAdmin, FactAdmin):
    """Versions that a share of new executions uses."""

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
        """Return the badge of the canary's state."""
        return mark_of(row)

    @display(description=lazy("share"))
    def share(self, row: Canary) -> str:
        """Return the canary's share of new executions."""
        return f"{row.percent:g} %"

    @display(description=lazy("published"))
    def created(self, row: Canary) -> Any:
        """Return how long ago the canary was published."""
        return marks.ago(row.created_at)

    @display(description=lazy("reason"))
    def why(self, row: Canary) -> str:
        """Return the reason for the canary's end; a dash if no reason is recorded."""
        return marks.clipped(row.reason) or marks.EMPTY

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page with the canary's fields, both versions side by side, and the history."""
        found = obj.figures or figures.as_json(figures.compare(obj))
        known = [
            (
                gettext("Workflow"),
                links.to("executions_workflow", obj.workflow_id, obj.workflow),
            ),
            (gettext("Share"), self.share(obj)),
            (gettext("Reason"), obj.reason),
            (gettext("Stop rule"), _rule(figures.rule_of(obj))),
            (gettext("Automatic promotion"), _promotion(obj)),
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


def mark_of(row: Canary) -> Any:
    """Return the badge of the canary's state."""
    return marks.mark(*MARKS[CanaryState(row.state)])


def _promotion(canary: Canary) -> Any:
    return marks.ago(canary.promote_at) if canary.state == CanaryState.RUNNING else marks.EMPTY


def _rule(rule: StopRule | None) -> str:
    if rule is None:
        return gettext("none")
    texts = []
    if rule.failure_rate is not None:
        texts.append(gettext("failure rate above {rate} %").format(rate=f"{rule.failure_rate:g}"))
    if rule.slower is not None:
        text = gettext("p95 above {factor} times that of the latest version")
        texts.append(text.format(factor=f"{rule.slower:g}"))
    if rule.new_group is not None:
        text = ngettext(
            "{count} dead letter in a new failure group",
            "{count} dead letters in a new failure group",
            rule.new_group,
        )
        texts.append(text.format(count=rule.new_group))
    return ", ".join(texts) or gettext("none")


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
        gettext("Both versions since the canary began (at most {number:,} executions each)").format(
            number=figures.MOST
        ),
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
                gettext("only in the canary version") if one["is_new"] else marks.EMPTY,
            ]
            for one in found["groups"]
        ],
        empty=gettext("No dead letters of the canary version."),
    )


def _known(value: float | None, unit: str) -> str:
    return marks.EMPTY if value is None else f"{value:.3g}{unit}"
