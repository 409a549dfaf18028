"""Alert rules, for who configures a workspace: made, changed, tried, taken away."""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.decorators import display
from unfold.forms import BaseDialogForm

from executions.public.access import Actor, Operation
from executions.public.admin import (
    AdminOperation,
    OperatingAdmin,
    ReasonForm,
    WritingAdmin,
    is_superuser,
    links,
    marks,
)
from executions.public.models import Permission
from valkyr_plugins.alerts.admin.forms import NUMBERS, AlertRuleForm
from valkyr_plugins.alerts.errors import NotDelivered
from valkyr_plugins.alerts.models import AlertChannel, AlertKind, AlertRule, DeliveryState
from valkyr_plugins.alerts.rules import change_rule, create_rule, delete_rule
from valkyr_plugins.alerts.trying import send_test


def _test(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    rule = AlertRule.objects.select_related("workspace").get(pk=pk)
    delivery = send_test(rule, actor=actor)
    if delivery.state != DeliveryState.SENT:
        raise NotDelivered(f"The test did not arrive: {delivery.error}")


def _delete(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    delete_rule(pk, actor=actor, reason=data["reason"])


TEST = AdminOperation(
    Operation(
        name="test",
        apply=_test,
        needs=Permission.CONFIGURE,
    ),
    title="Send a test…",
    icon="send",
    done="test delivered",
    question="Sends one message now, by the rule as it was saved, and tells what became of it.",
    form=BaseDialogForm,
    primary=True,
    bulk=False,
)
DELETE = AdminOperation(
    Operation(
        name="delete_rule",
        apply=_delete,
        needs=Permission.CONFIGURE,
    ),
    title="Delete…",
    icon="delete",
    done="deleted",
    question="Nobody is told by it any more; its alerts and the list of what it sent go with it.",
    form=ReasonForm,
    danger=True,
    destination=lambda _: links.listing("valkyr_alerts_alertrule"),
)


@admin.register(AlertRule)
class AlertRuleAdmin(OperatingAdmin, WritingAdmin):
    """Who is told of what; the installation's rules belong to superusers."""

    operations = (TEST, DELETE)
    form = AlertRuleForm
    list_display = ("name", "place", "mark", "tells_of", "by", "to", "changed")
    list_select_related = ("workspace",)
    list_filter = ("enabled", "channel")
    list_defer = ("sealed",)
    ordering = ("name", "id")
    sortable_by = ()
    search_ids = ("id",)
    search_texts = ("name", "workspace__slug")
    needs = edits = Permission.CONFIGURE
    empty_text = "No alert rules: nobody is told when something breaks. Add one."
    warn_unsaved_form = True
    fieldsets: ClassVar[Any] = (
        (None, {"fields": ("workspace", "name", "enabled")}),
        ("Of what", {"fields": ("kinds", "workflow_slug")}),
        ("How", {"fields": ("channel", "recipients", "url", "secret")}),
        ("When", {"fields": NUMBERS}),
        ("What came of it", {"fields": ("noticed", "changed", "created_by")}),
    )

    class Media:
        js = ("valkyr_alerts/alert-rule.js",)

    @display(description="workspace")
    def place(self, row: AlertRule) -> str:
        """Whose rule it is."""
        return str(row.workspace) if row.workspace_id else "the whole installation"

    @display(description="state")
    def mark(self, row: AlertRule) -> Any:
        """On or off."""
        if row.enabled:
            return marks.mark("on", "notifications", "green")
        return marks.mark("off", "notifications_off", "grey")

    @display(description="tells of")
    def tells_of(self, row: AlertRule) -> str:
        """Its kinds in words."""
        if len(row.kinds) == len(AlertKind):
            return "everything"
        return marks.clipped(", ".join(str(AlertKind(kind).label) for kind in row.kinds), 80)

    @display(description="by")
    def by(self, row: AlertRule) -> str:
        """Its channel."""
        return row.get_channel_display()

    @display(description="to")
    def to(self, row: AlertRule) -> str:
        """Who gets it; of Slack nothing is known that is no secret."""
        if row.channel == AlertChannel.EMAIL:
            return marks.clipped(", ".join(row.recipients), 50)
        return marks.clipped(row.url, 50) or marks.EMPTY

    @display(description="changed")
    def changed(self, row: AlertRule) -> Any:
        """When it was changed."""
        return marks.ago(row.updated_at)

    @display(description="alerts and messages")
    def noticed(self, row: AlertRule) -> Any:
        """Where to read on."""
        return format_html(
            "{} · {}",
            links.link(links.listing("valkyr_alerts_alert", q=row.pk), "Alerts"),
            links.link(links.listing("valkyr_alerts_alertdelivery", q=row.pk), "Messages"),
        )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """A new rule has no past; an old one stays in its workspace."""
        if obj is None:
            return self.fieldsets[:-1]
        return ((None, {"fields": ("place", "name", "enabled")}), *self.fieldsets[1:])

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """A rule stays where it was made."""
        return () if obj is None else ("place", "noticed", "changed", "created_by")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Superusers may leave the workspace out: the rule is then the whole installation's."""
        if db_field.name == "workspace":
            kwargs["required"] = not is_superuser(request)
            kwargs["empty_label"] = (
                "The whole installation" if is_superuser(request) else "Choose one"
            )
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They are deleted by the operation, which writes down why."""
        return False

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> AlertRule:
        """Make it, or change what is given."""
        actor = Actor.of_request(request)
        if change:
            return change_rule(obj.pk, form.facts(), secret=form.given_secret, actor=actor)
        return create_rule(
            form.cleaned_data["workspace"],
            form.facts(),
            secret=form.given_secret or "",
            actor=actor,
        )
