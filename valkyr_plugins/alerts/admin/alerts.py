"""Read-only admin pages of alerts and their messages; users can send a message again."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from executions.public.access import Actor, Operation
from executions.public.addresses import shown_page
from executions.public.admin import (
    AdminOperation,
    AgeFilter,
    FactAdmin,
    OperatingAdmin,
    Page,
    PageSection,
    TabFilter,
    facts,
    json_section,
    links,
    marks,
)
from executions.public.admin_skin import display
from executions.public.language import lazy
from executions.public.models import Permission
from valkyr_plugins.alerts.models import Alert, AlertDelivery, AlertState, DeliveryState
from valkyr_plugins.alerts.sending import resend

LATEST = 50
ALERT_MARKS = {
    AlertState.OPEN: (lazy("open"), "notifications_active", "red"),
    AlertState.OVER: (lazy("ended"), "check_circle", "green"),
}
DELIVERY_MARKS = {
    DeliveryState.QUEUED: (lazy("queued"), "schedule_send", "blue"),
    DeliveryState.SENT: (lazy("sent"), "mark_email_read", "green"),
    DeliveryState.GIVEN_UP: (lazy("given up"), "cancel", "red"),
}


class AlertStates(TabFilter):
    """Filters alerts by state: open or ended."""

    title = lazy("state")
    parameter_name = "state"
    field = "state"
    groups = {"open": (AlertState.OPEN,), "ended": (AlertState.OVER,)}


class DeliveryStates(TabFilter):
    """Filters messages by state: queued, sent, or given up."""

    title = lazy("state")
    parameter_name = "state"
    field = "state"
    groups = {
        "queued": (DeliveryState.QUEUED,),
        "sent": (DeliveryState.SENT,),
        "given up": (DeliveryState.GIVEN_UP,),
    }


@admin.register(Alert)
class AlertAdmin(FactAdmin):
    """Alerts that rules raised."""

    list_display = ("mark", "said", "about", "rule_name", "times", "first", "last")
    list_display_links = ("said",)
    list_select_related = ("rule",)
    list_filter = (AlertStates, "kind", AgeFilter)
    list_defer = ("details",)
    ordering = ("-id",)
    search_ids = ("id", "rule_id")
    search_texts = ("sentence", "subject")
    empty_text = lazy("No alerts. Add an alert rule to define what to report and whom to notify.")

    @display(description=lazy("state"))
    def mark(self, row: Alert) -> Any:
        """Return the badge of the alert's state: open or ended."""
        return marks.mark(*ALERT_MARKS[AlertState(row.state)])

    @display(description=lazy("alert"))
    def said(self, row: Alert) -> str:
        """Return the alert's text."""
        return marks.clipped(row.sentence, 140)

    @display(description=lazy("kind"))
    def about(self, row: Alert) -> str:
        """Return the label of the alert's kind."""
        return row.get_kind_display()

    @display(description=lazy("rule"))
    def rule_name(self, row: Alert) -> str:
        """Return the name of the rule that raised the alert."""
        return marks.clipped(row.rule.name, 40)

    @display(description=lazy("count"))
    def times(self, row: Alert) -> str:
        """Return how many occurrences of the problem were counted."""
        return f"{row.count:,}"

    @display(description=lazy("first detected"))
    def first(self, row: Alert) -> Any:
        """Return how long ago the alert was opened."""
        return marks.ago(row.first_at)

    @display(description=lazy("last detected"))
    def last(self, row: Alert) -> Any:
        """Return how long ago the problem last occurred."""
        return marks.ago(row.last_at)

    def page(self, request: HttpRequest, obj: Alert) -> Page:
        """Return the page with one alert and its messages."""
        return Page(
            [self.mark(obj), obj.sentence],
            facts(
                [
                    (gettext("Kind"), self.about(obj)),
                    (
                        gettext("Link"),
                        links.link(shown_page(obj.path), gettext("Open page")) if obj.path else "",
                    ),
                    (gettext("Rule"), _rule(obj)),
                    (gettext("Workspace"), _place(obj)),
                    (gettext("Detected"), marks.times(obj.count)),
                    (gettext("First detected"), marks.ago(obj.first_at)),
                    (gettext("Last detected"), marks.ago(obj.last_at)),
                    (gettext("Notified"), marks.ago(obj.told_at)),
                    (gettext("Ended"), marks.ago(obj.over_at)),
                    (gettext("Subject"), marks.copyable(obj.subject)),
                    (gettext("ID"), marks.copyable(obj.pk)),
                ]
            ),
            [_messages(obj), json_section(gettext("Details"), obj.details)],
        )


def _resend(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
    return resend(pk, actor=actor, reason=data["reason"])


RESEND = AdminOperation(
    Operation(
        name="resend",
        apply=_resend,
        needs=Permission.CONFIGURE,
        refuse=lambda row: (
            gettext("Already queued. It will be sent automatically.")
            if row.state == DeliveryState.QUEUED
            else ""
        ),
    ),
    title=lazy("Send again…"),
    icon="forward_to_inbox",
    done=lazy("queued"),
    question=lazy(
        "Sends the message again with the same idempotency key, through the rule's current channel."
    ),
)


@admin.register(AlertDelivery)
class AlertDeliveryAdmin(OperatingAdmin, FactAdmin):
    """Messages of alert rules, with the results of the latest attempts."""

    operations = (RESEND,)
    list_display = ("made", "mark", "why", "by", "rule_name", "tries", "status", "problem")
    list_display_links = ("made",)
    list_select_related = ("rule",)
    list_filter = (DeliveryStates, "reason", "channel", AgeFilter)
    list_defer = ("message", "log")
    ordering = ("-id",)
    search_ids = ("id", "rule_id", "alert_id")
    empty_text = lazy(
        "No messages yet. Rules send messages when they detect a problem, or for a test."
    )

    @display(description=lazy("created"))
    def made(self, row: AlertDelivery) -> Any:
        """Return how long ago the message was queued."""
        return marks.ago(row.created_at)

    @display(description=lazy("state"))
    def mark(self, row: AlertDelivery) -> Any:
        """Return the badge of the message's state: queued, sent or given up."""
        return marks.mark(*DELIVERY_MARKS[DeliveryState(row.state)])

    @display(description=lazy("reason"))
    def why(self, row: AlertDelivery) -> str:
        """Return the reason for the message."""
        return row.get_reason_display()

    @display(description=lazy("channel"))
    def by(self, row: AlertDelivery) -> str:
        """Return the message's channel."""
        return row.get_channel_display()

    @display(description=lazy("rule"))
    def rule_name(self, row: AlertDelivery) -> str:
        """Return the name of the message's rule."""
        return marks.clipped(row.rule.name, 40)

    @display(description=lazy("attempts"))
    def tries(self, row: AlertDelivery) -> int:
        """Return the number of attempts."""
        return row.attempts

    @display(description=lazy("response"))
    def status(self, row: AlertDelivery) -> Any:
        """Return the receiver's HTTP status; a dash if there is none."""
        return row.answer or marks.EMPTY

    @display(description=lazy("last error"))
    def problem(self, row: AlertDelivery) -> str:
        """Return the error of the last attempt; a dash if there is none."""
        return marks.clipped(row.error, 90) or marks.EMPTY

    def page(self, request: HttpRequest, obj: AlertDelivery) -> Page:
        """Return the page with one message and its attempts."""
        alert = (
            ""
            if obj.alert_id is None
            else links.to("valkyr_alerts_alert", obj.alert_id, gettext("Open alert"))
        )
        return Page(
            [self.mark(obj)],
            facts(
                [
                    (gettext("Reason"), self.why(obj)),
                    (gettext("Alert"), alert),
                    (gettext("Channel"), self.by(obj)),
                    (gettext("Rule"), _rule(obj)),
                    (gettext("Workspace"), _place(obj)),
                    (gettext("Attempts"), str(obj.attempts)),
                    (gettext("Next attempt"), marks.ago(obj.next_at)),
                    (gettext("Sent"), marks.ago(obj.sent_at)),
                    (gettext("Created"), marks.ago(obj.created_at)),
                    (gettext("ID and idempotency key"), marks.copyable(obj.pk)),
                ]
            ),
            [_attempts(obj), json_section(gettext("Message"), obj.message)],
        )


def _rule(row: Any) -> SafeString:
    return links.to("valkyr_alerts_alertrule", row.rule_id, row.rule.name)


def _place(row: Any) -> str:
    return str(row.workspace) if row.workspace_id else gettext("the whole installation")


def _messages(alert: Alert) -> PageSection:
    """Return a section with the latest messages in which this alert is the first or only one."""
    return PageSection(
        gettext("Messages"),
        headers=(
            gettext("Created"),
            gettext("State"),
            gettext("Reason"),
            gettext("Channel"),
            gettext("Attempts"),
            gettext("Last error"),
        ),
        rows=[
            (
                links.to("valkyr_alerts_alertdelivery", row.pk, marks.ago(row.created_at)),
                marks.mark(*DELIVERY_MARKS[DeliveryState(row.state)]),
                row.get_reason_display(),
                row.get_channel_display(),
                str(row.attempts),
                marks.clipped(row.error, 120) or marks.EMPTY,
            )
            for row in alert.deliveries.defer("message", "log").order_by("-id")[:LATEST]
        ],
        empty=gettext(
            "No separate message: the alert was or will be reported together with others."
        ),
    )


def _attempts(delivery: AlertDelivery) -> PageSection:
    return PageSection(
        gettext("Attempts"),
        headers=(gettext("Time"), gettext("Response"), gettext("Duration"), gettext("Error")),
        rows=[
            (
                format_html('<span class="vk-nowrap">{}</span>', said["at"][:19].replace("T", " ")),
                str(said["answer"] or marks.EMPTY),
                marks.took(said["ms"]),
                said["error"] or marks.EMPTY,
            )
            for said in reversed(delivery.log)
        ],
        empty=gettext("None yet."),
    )
