"""Admin pages of circuits, with their held steps and a reset, and of circuit rules."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext

from dlq.public.dashboard import HomeProblem, HomeSection, add_section
from executions.public.access import Actor, Operation
from executions.public.admin import (
    AdminOperation,
    Cell,
    FactAdmin,
    GivenReasonForm,
    OperatingAdmin,
    Page,
    PageSection,
    ScopedAdmin,
    TabFilter,
    done_to,
    facts,
    is_superuser,
    links,
    marks,
    scoped,
    text_section,
)
from executions.public.admin_skin import display
from executions.public.language import lazy
from runners.public.models import Waiter, WaitKind
from runners.public.targets import DEFAULTS, limits_for
from valkyr_plugins.circuits.breaker import CircuitState
from valkyr_plugins.circuits.breaker_rows import rules
from valkyr_plugins.circuits.conf import config
from valkyr_plugins.circuits.gate import reset
from valkyr_plugins.circuits.models import CircuitBreaker, CircuitRule

MARKS = {
    CircuitState.CLOSED: (lazy("closed"), "check_circle", "green"),
    CircuitState.OPEN: (lazy("open"), "block", "red"),
    CircuitState.HALF_OPEN: (lazy("half open"), "pending", "amber"),
}
SHOWN = 8  # maximum circuits on the home page


def _reset(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> int:
    return reset(pk, actor=actor, reason=data["reason"])


RESET = AdminOperation(
    Operation(
        name="reset_circuit",
        apply=_reset,
        refuse=lambda row: (
            "" if row.state != "CLOSED" or row.failures else gettext("Nothing to reset.")
        ),
    ),
    title=lazy("Reset…"),
    icon="restart_alt",
    done=lazy("reset"),
    question=lazy(
        "Resets the failure count and lets steps call the target again: first as many as the "
        "failure threshold, then, after a success, all held steps."
    ),
    form=GivenReasonForm,
    primary=True,
)


class CircuitStateFilter(TabFilter):
    """Filters circuits by state."""

    title = lazy("state")
    parameter_name = field = "state"
    groups = {"open": ("OPEN", "HALF_OPEN"), "closed": ("CLOSED",)}


@admin.register(CircuitBreaker)
class CircuitBreakerAdmin(OperatingAdmin, FactAdmin):
    """The targets that steps of the workspaces call, and their circuits."""

    operations = (RESET,)
    list_display = (
        "target", "mark", "workspace", "counted", "held", "retry", "last_failure", "error",
    )  # fmt: skip
    list_display_links = ("target",)
    list_select_related = ("workspace",)
    list_filter = (CircuitStateFilter,)
    list_before_template = "valkyr/tabs.html"
    search_ids = ("id",)
    search_texts = ("target",)
    ordering = ("-id",)
    empty_text = lazy(
        "No circuits yet. Each target that a step calls, such as a host, appears here."
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the circuits, each with the number of steps that it holds."""
        waiting = (
            Waiter.objects.filter(
                kind=WaitKind.CIRCUIT,
                key=OuterRef("target"),
                workspace_id=OuterRef("workspace_id"),
            )
            .order_by()
            .values("key")
            .annotate(n=Count("pk"))
            .values("n")
        )
        waits = Coalesce(Subquery(waiting), 0, output_field=IntegerField())
        rows: QuerySet[Any] = super().get_queryset(request).annotate(waits=waits)
        return rows

    @display(description=lazy("state"))
    def mark(self, row: CircuitBreaker) -> Any:
        """Return the badge of the circuit's state."""
        return mark_of(row)

    @display(description=lazy("failures"))
    def counted(self, row: CircuitBreaker) -> str:
        """Return the number of counted failures; a dash if there are none."""
        return str(row.failures) if row.failures else marks.EMPTY

    @display(description=lazy("steps held"))
    def held(self, row: Any) -> str:
        """Return the number of steps that the circuit holds; a dash if there are none."""
        return f"{row.waits:,}" if row.waits else marks.EMPTY

    @display(description=lazy("next probe"))
    def retry(self, row: CircuitBreaker) -> Any:
        """Return when a probe may call the target, relative to now; a dash if none is planned."""
        return marks.EMPTY if row.next_retry_at is None else marks.ago(row.next_retry_at)

    @display(description=lazy("last failure"))
    def last_failure(self, row: CircuitBreaker) -> Any:
        """Return how long ago a call last failed."""
        return marks.ago(row.last_failure_at)

    @display(description=lazy("error"))
    def error(self, row: CircuitBreaker) -> str:
        """Return the error of the last failure; a dash if there is none."""
        return marks.clipped(row.last_error) or marks.EMPTY

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page with the circuit, its limits and its history."""
        sections: list[PageSection] = []
        if obj.last_error:
            sections.append(text_section(gettext("Last error"), obj.last_error, error=True))
        sections.append(done_to(obj.pk))
        limits = limits_for(obj.target, (*rules(), *DEFAULTS), config().base)
        known = [
            (gettext("Workspace"), obj.workspace),
            (
                gettext("Failures"),
                gettext("{failures} of {failures2}").format(
                    failures=obj.failures, failures2=limits.failures
                ),
            ),
            (gettext("Window"), f"{limits.window:g} s"),
            (gettext("Recovery time"), f"{limits.recovery:g} s"),
            (gettext("Steps held"), self.held(obj)),
            (gettext("Opened"), marks.ago(obj.opened_at)),
            (gettext("Times opened"), str(obj.times_opened)),
            (gettext("Next probe"), marks.ago(obj.next_retry_at)),
            (
                gettext("Probing run"),
                obj.probe_run_id and links.to("runners_run", obj.probe_run_id, obj.probe_run_id),
            ),
            (gettext("Last failure"), marks.ago(obj.last_failure_at)),
            (gettext("Last success"), marks.ago(obj.proven_at)),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]
        return Page([mark_of(obj), obj.target], facts(known), sections)


@admin.register(CircuitRule)
class CircuitRuleAdmin(ScopedAdmin):
    """Limits for the targets that match a pattern, in the whole installation."""

    shared = True
    list_display = (
        "pattern", "failure_threshold", "window_seconds", "recovery_seconds", "timeout_seconds",
    )  # fmt: skip
    fields = list_display
    search_texts = ("pattern",)
    empty_text = lazy("No rules. The built-in defaults and the settings apply.")

    def _may(self, request: HttpRequest, obj: Any, power: Any, verb: str) -> bool:
        """Return whether the user is a superuser, because a rule applies to every workspace."""
        return is_superuser(request)

    def scope(self, request: HttpRequest, rows: QuerySet[Any], action: Any) -> QuerySet[Any]:
        """Return all rows for a superuser, otherwise none: rules belong to no workspace."""
        return rows if is_superuser(request) else rows.none()


def mark_of(row: CircuitBreaker) -> Any:
    """Return the badge of the circuit's state."""
    return marks.mark(*MARKS[CircuitState(row.state)])


def _open(request: HttpRequest) -> list[CircuitBreaker]:
    found = scoped(request, CircuitBreaker.objects.exclude(state="CLOSED"))
    return list(found.order_by("-opened_at")[:SHOWN])


def _rows(found: Iterable[CircuitBreaker]) -> list[list[Cell]]:
    return [
        [
            links.to("valkyr_circuits_circuitbreaker", row.pk, row.target),
            mark_of(row),
            marks.ago(row.next_retry_at),
        ]
        for row in found
    ]


def _problem(number: int) -> HomeProblem:
    text = ngettext(
        "{number} circuit is open or half open",
        "{number} circuits are open or half open",
        number,
    )
    address = links.listing("valkyr_circuits_circuitbreaker", state="open")
    shown = f"{number}+" if number == SHOWN else f"{number}"
    return HomeProblem(text.format(number=shown), "electrical_services", address)


add_section(
    HomeSection(
        name="circuits",
        title=lazy("Open circuits"),
        headers=(lazy("Target"), lazy("State"), lazy("Next probe")),
        gather=_open,
        rows=_rows,
        problem=_problem,
    )
)
