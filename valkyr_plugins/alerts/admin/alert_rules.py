"""Admin pages of alert rules, for users who may configure a workspace."""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext

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
from executions.public.admin_skin import (
    CheckboxSelectMultiple,
    DialogForm,
    PasswordInput,
    Select,
    Textarea,
    TextInput,
    display,
)
from executions.public.language import lazy
from executions.public.models import Permission, Workflow, Workspace
from executions.public.sealing import SealingError
from valkyr_plugins.alerts.models import AlertChannel, AlertKind, AlertRule, DeliveryState
from valkyr_plugins.alerts.rules import (
    NotDelivered,
    change_rule,
    create_rule,
    delete_rule,
    problems_of,
    secret_of,
)
from valkyr_plugins.alerts.sending import send_test

# The form of an alert rule: conditions, channel and maximum frequency. The page never shows the
# secret.


# The form's field names, by the API's names.
NAMES = {
    "intervalSeconds": "interval_seconds",
    "rateFactor": "rate_factor",
    "rateLeast": "rate_least",
    "oldestHours": "oldest_hours",
    "waitingSeconds": "waiting_seconds",
    "silentSeconds": "silent_seconds",
}
NUMBERS = tuple(NAMES.values())
HELP = {
    "name": lazy("The name shown in messages."),
    "enabled": lazy("When disabled, the rule detects nothing and sends nothing."),
    "url": lazy("Webhook: the URL that receives alerts."),
    "label": lazy(
        "name:value, such as customer:big. Requires that the rule notifies only about new "
        "failures, regressed failures and old dead letters."
    ),
    "interval_seconds": lazy("Minimum seconds between notifications about the same problem."),
    "rate_factor": lazy(
        "Minimum ratio of the failures in an hour to the usual number at that time."
    ),
    "rate_least": lazy("Minimum number of failures in an hour."),
    "oldest_hours": lazy("Hours that a dead letter may stay open."),
    "waiting_seconds": lazy("Seconds that runs may wait in a queue without a live worker."),
    "silent_seconds": lazy("Maximum seconds without a heartbeat from beat."),
}
LABELS = {
    "url": lazy("Address"),
    "label": lazy("Only executions with label"),
    "interval_seconds": lazy("Minimum interval"),
    "rate_factor": lazy("Multiple of the usual rate"),
    "rate_least": lazy("Minimum failures"),
    "oldest_hours": lazy("Open for"),
    "waiting_seconds": lazy("Waiting for"),
    "silent_seconds": lazy("Silent for"),
}


class AlertRuleForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """The form of an alert rule. Each problem appears next to its input."""

    kinds = forms.MultipleChoiceField(
        label=lazy("Notify about"),
        choices=[(kind.value, str(kind.label).capitalize()) for kind in AlertKind],
        widget=CheckboxSelectMultiple(),
    )
    workflow_slug = forms.CharField(
        label=lazy("Only for workflow"),
        required=False,
        max_length=100,
        widget=TextInput(attrs={"autocomplete": "off"}),
        help_text=lazy("The workflow's slug. Leave empty for all workflows."),
    )
    channel = forms.ChoiceField(
        label=lazy("Channel"), choices=AlertChannel.choices, widget=Select()
    )
    recipients = forms.CharField(
        required=False,
        max_length=8_000,
        widget=Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=lazy("E-mail: one address per line."),
        label=lazy("Recipients"),
    )
    secret = forms.CharField(
        required=False,
        strip=False,
        max_length=4_000,
        widget=PasswordInput(attrs={"autocomplete": "new-password"}, render_value=False),
        label=lazy("Secret"),
    )

    class Meta:
        model = AlertRule
        fields: tuple[str, ...] = ("workspace", "name", "enabled", "label", "url", *NUMBERS)
        help_texts = HELP
        labels = LABELS
        widgets = {
            "name": TextInput(attrs={"autocomplete": "off"}),
            "url": TextInput(attrs={"spellcheck": "false"}),
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["secret"].help_text = self._about_the_secret()
        if not self.adds:
            rule = self.instance
            self.initial.update(
                kinds=rule.kinds,
                channel=rule.channel,
                recipients="\n".join(rule.recipients),
                workflow_slug=rule.about.slug if rule.about else "",
            )

    @property
    def adds(self) -> bool:
        """Return whether the form creates a rule."""
        return bool(self.instance._state.adding)

    @property
    def given_secret(self) -> str | None:
        """Return the entered secret, or None to keep the current secret."""
        return self.cleaned_data.get("secret") or None

    def facts(self) -> dict[str, Any]:
        """Return the rule's new values, without its secret."""
        data = self.cleaned_data
        names = ("name", "enabled", "kinds", "label", "channel", "recipients", "url", *NUMBERS)
        return {name: data[name] for name in names} | {"about_id": data["about_id"]}

    def clean_recipients(self) -> list[str]:
        """Return the entered addresses as a list."""
        typed: str = self.cleaned_data["recipients"]
        return typed.replace(",", "\n").split()

    def clean(self) -> dict[str, Any]:
        """If all fields are valid, clear other channels' fields and add errors for problems."""
        data = super().clean() or {}
        data["about_id"] = self._workflow(data)
        if not self.errors:
            # After a change of the channel, fields of the previous channel may still have values.
            if data["channel"] != AlertChannel.EMAIL:
                data["recipients"] = []
            if data["channel"] != AlertChannel.WEBHOOK:
                data["url"] = ""
            for problem in problems_of(AlertRule(**self.facts()), self._secret(data)):
                name = NAMES.get(problem.path, problem.path)
                self.add_error(name if name in self.fields else None, problem.message)
        return data

    def _post_clean(self) -> None:
        """Do nothing: `alerts.rules` checks and writes the whole rule."""

    def _workflow(self, data: dict[str, Any]) -> Any:
        slug = (data.get("workflow_slug") or "").strip()
        if not slug:
            return None
        workspace = data.get("workspace") if self.adds else self.instance.workspace
        if "workspace" in self.errors:
            return None
        found = Workflow.objects.filter(workspace=workspace, slug=slug).first()
        if found is None:
            self.add_error("workflow_slug", _no_workflow(workspace))
            return None
        return found.pk

    def _secret(self, data: dict[str, Any]) -> str:
        """Return the entered secret, or the stored secret if the channel is unchanged, or ""."""
        typed: str = data.get("secret") or ""
        if typed or self.adds or data["channel"] != self.instance.channel:
            return typed
        try:
            return secret_of(self.instance)
        except SealingError as error:
            self.add_error(
                "secret",
                gettext("The current secret cannot be decrypted: {error}").format(error=error),
            )
            return ""

    def _about_the_secret(self) -> str:
        about = gettext(
            "Slack: the URL of the incoming webhook. Webhook: a signing secret of at least 16 "
            "characters. E-mail: your own mail server, such as smtp://user:password@host:587."
        )
        empty = (
            gettext("If you do not change the channel, leave empty to keep the current secret.")
            if not self.adds and self.instance.has_secret
            else gettext("For e-mail, leave empty to use the installation's mail server.")
        )
        return f"{about} {empty}"


def _no_workflow(workspace: Workspace | None) -> str:
    """Return why no workflow was found; `workspace` is None for the whole installation."""
    if workspace is None:
        return gettext("A rule for the whole installation cannot be limited to one workflow.")
    return gettext("The workspace has no such workflow.")


def _test(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    rule = AlertRule.objects.select_related("workspace").get(pk=pk)
    delivery = send_test(rule, actor=actor)
    if delivery.state != DeliveryState.SENT:
        raise NotDelivered(
            gettext("The test was not delivered: {error}").format(error=delivery.error)
        )


def _delete(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    delete_rule(pk, actor=actor, reason=data["reason"])


TEST = AdminOperation(
    Operation(
        name="test",
        apply=_test,
        needs=Permission.CONFIGURE,
    ),
    title=lazy("Send a test…"),
    icon="send",
    done=lazy("test delivered"),
    question=lazy(
        "Sends one message now as the saved rule specifies, and reports whether it was delivered."
    ),
    form=DialogForm,
    primary=True,
    bulk=False,
)
DELETE = AdminOperation(
    Operation(
        name="delete_rule",
        apply=_delete,
        needs=Permission.CONFIGURE,
    ),
    title=lazy("Delete…"),
    icon="delete",
    done=lazy("deleted"),
    question=lazy("Deletes the rule with its alerts and messages."),
    form=ReasonForm,
    danger=True,
    destination=lambda _: links.listing("valkyr_alerts_alertrule"),
)


@admin.register(AlertRule)
class AlertRuleAdmin(OperatingAdmin, WritingAdmin):
    """Rules for notifications; only superusers manage the installation's rules."""

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
    empty_text = lazy("No alert rules. Add one to be notified of failures.")
    warn_unsaved_form = True
    fieldsets: ClassVar[Any] = (
        (None, {"fields": ("workspace", "name", "enabled")}),
        (lazy("Events"), {"fields": ("kinds", "workflow_slug", "label")}),
        (lazy("Delivery"), {"fields": ("channel", "recipients", "url", "secret")}),
        (lazy("When"), {"fields": NUMBERS}),
        (lazy("Details"), {"fields": ("noticed", "changed", "created_by")}),
    )

    class Media:
        js = ("valkyr_alerts/alert-rule.js",)

    @display(description=lazy("workspace"))
    def place(self, row: AlertRule) -> str:
        """Return the name of the rule's workspace, or a label for the whole installation."""
        return str(row.workspace) if row.workspace_id else gettext("the whole installation")

    @display(description=lazy("state"))
    def mark(self, row: AlertRule) -> Any:
        """Return a badge that says whether the rule is enabled."""
        if row.enabled:
            return marks.mark(gettext("enabled"), "notifications", "green")
        return marks.mark(gettext("disabled"), "notifications_off", "grey")

    @display(description=lazy("notifies about"))
    def tells_of(self, row: AlertRule) -> str:
        """Return the labels of the reported kinds of alerts; "everything" for all kinds."""
        if len(row.kinds) == len(AlertKind):
            return gettext("everything")
        return marks.clipped(", ".join(str(AlertKind(kind).label) for kind in row.kinds), 80)

    @display(description=lazy("channel"))
    def by(self, row: AlertRule) -> str:
        """Return the rule's channel."""
        return row.get_channel_display()

    @display(description=lazy("recipients"))
    def to(self, row: AlertRule) -> str:
        """Return the email recipients or the webhook's address; a dash for Slack."""
        if row.channel == AlertChannel.EMAIL:
            return marks.clipped(", ".join(row.recipients), 50)
        return marks.clipped(row.url, 50) or marks.EMPTY

    @display(description=lazy("changed"))
    def changed(self, row: AlertRule) -> Any:
        """Return how long ago the rule was last changed."""
        return marks.ago(row.updated_at)

    @display(description=lazy("alerts and messages"))
    def noticed(self, row: AlertRule) -> Any:
        """Return links to the rule's alerts and messages."""
        return format_html(
            "{} · {}",
            links.link(links.listing("valkyr_alerts_alert", q=row.pk), gettext("Alerts")),
            links.link(links.listing("valkyr_alerts_alertdelivery", q=row.pk), gettext("Messages")),
        )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Return the form's sections.

        A new rule's form omits the last section; the workspace of an existing rule is read-only.
        """
        if obj is None:
            return self.fieldsets[:-1]
        return ((None, {"fields": ("place", "name", "enabled")}), *self.fieldsets[1:])

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the read-only fields; () for a new rule."""
        return () if obj is None else ("place", "noticed", "changed", "created_by")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Let superusers leave the workspace empty: the rule then covers the whole installation."""
        if db_field.name == "workspace":
            kwargs["required"] = not is_superuser(request)
            kwargs["empty_label"] = (
                gettext("The whole installation")
                if is_superuser(request)
                else gettext("Choose one")
            )
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: on these pages, only the operation `DELETE` deletes rules."""
        return False

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> AlertRule:
        """Create or change the rule with the form's values; return the rule."""
        actor = Actor.of_request(request)
        if change:
            return change_rule(obj.pk, form.facts(), secret=form.given_secret, actor=actor)
        return create_rule(
            form.cleaned_data["workspace"],
            form.facts(),
            secret=form.given_secret or "",
            actor=actor,
        )
