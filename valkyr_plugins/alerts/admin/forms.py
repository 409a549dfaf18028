"""The form of an alert rule: of what to tell, to whom, how often; its secret is never filled in."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from executions.public.models import Workflow
from executions.public.sealing import SealingError
from valkyr_plugins.alerts.checking import problems_of
from valkyr_plugins.alerts.models import AlertChannel, AlertKind, AlertRule
from valkyr_plugins.alerts.secrets import secret_of

# What the API calls a field, by the form's name.
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
    "name": "What messages call it.",
    "enabled": "Off: nothing is noticed and nobody is told.",
    "url": "Webhook: where alerts are posted.",
    "interval_seconds": "In seconds: nobody is told of one thing more often than this.",
    "rate_factor": "Far more failures: so many times the usual of this hour, or more.",
    "rate_least": "And at least so many in an hour.",
    "oldest_hours": "A dead letter may be open for so many hours.",
    "waiting_seconds": "Work may wait so many seconds for a worker.",
    "silent_seconds": "Beat may be silent for so many seconds.",
}
LABELS = {
    "url": "Address",
    "interval_seconds": "At most every",
    "rate_factor": "Times the usual",
    "rate_least": "And at least",
    "oldest_hours": "Open for",
    "waiting_seconds": "Waiting for",
    "silent_seconds": "Silent for",
}


class AlertRuleForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """An alert rule; what cannot be is told beside its input, as the API would tell it."""

    kinds = forms.MultipleChoiceField(
        label="Tell of",
        choices=[(kind.value, str(kind.label).capitalize()) for kind in AlertKind],
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
    )
    workflow_slug = forms.CharField(
        label="Only of workflow",
        required=False,
        max_length=100,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="Its slug. Empty: of every workflow.",
    )
    channel = forms.ChoiceField(
        label="By", choices=AlertChannel.choices, widget=UnfoldAdminSelectWidget()
    )
    recipients = forms.CharField(
        required=False,
        max_length=8_000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "spellcheck": "false"}),
        help_text="E-mail: one address a line.",
    )
    secret = forms.CharField(
        required=False,
        strip=False,
        max_length=4_000,
        widget=UnfoldAdminPasswordWidget(
            attrs={"autocomplete": "new-password"}, render_value=False
        ),
    )

    class Meta:
        model = AlertRule
        fields: tuple[str, ...] = ("workspace", "name", "enabled", "url", *NUMBERS)
        help_texts = HELP
        labels = LABELS
        widgets = {
            "name": UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
            "url": UnfoldAdminTextInputWidget(attrs={"spellcheck": "false"}),
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
        """Whether it makes a new one."""
        return bool(self.instance._state.adding)

    @property
    def given_secret(self) -> str | None:
        """What was typed; None: the present one stays."""
        return self.cleaned_data.get("secret") or None

    def facts(self) -> dict[str, Any]:
        """What the rule is to be, without its secret."""
        data = self.cleaned_data
        names = ("name", "enabled", "kinds", "channel", "recipients", "url", *NUMBERS)
        return {name: data[name] for name in names} | {"about_id": data["about_id"]}

    def clean_recipients(self) -> list[str]:
        """The addresses, one by one."""
        typed: str = self.cleaned_data["recipients"]
        return typed.replace(",", "\n").split()

    def clean(self) -> dict[str, Any]:
        """Tell every problem here, where the other answers are kept."""
        data = super().clean() or {}
        data["about_id"] = self._workflow(data)
        if not self.errors:
            # What the other channels ask for is left over where somebody changed their mind.
            if data["channel"] != AlertChannel.EMAIL:
                data["recipients"] = []
            if data["channel"] != AlertChannel.WEBHOOK:
                data["url"] = ""
            for problem in problems_of(AlertRule(**self.facts()), self._secret(data)):
                name = NAMES.get(problem.path, problem.path)
                self.add_error(name if name in self.fields else None, problem.message)
        return data

    def _post_clean(self) -> None:
        """Set nothing: `alerts.rules` writes the rule and checks it whole."""

    def _workflow(self, data: dict[str, Any]) -> Any:
        slug = (data.get("workflow_slug") or "").strip()
        if not slug:
            return None
        workspace = data.get("workspace") if self.adds else self.instance.workspace
        found = Workflow.objects.filter(workspace=workspace, slug=slug).first()
        if workspace is None or found is None:
            self.add_error("workflow_slug", "There is no such workflow in the workspace.")
            return None
        return found.pk

    def _secret(self, data: dict[str, Any]) -> str:
        """The secret that the rule would have."""
        typed: str = data.get("secret") or ""
        if typed or self.adds or data["channel"] != self.instance.channel:
            return typed
        try:
            return secret_of(self.instance)
        except SealingError as error:
            self.add_error("secret", f"The present one cannot be opened: {error}")
            return ""

    def _about_the_secret(self) -> str:
        kept = "Empty: it stays as it is. " if not self.adds and self.instance.has_secret else ""
        return (
            f"{kept}Slack: the incoming webhook's address. Webhook: the text of 16 or more "
            "characters that signs the requests. E-mail: a mail server of your own, "
            "smtp://user:password@host:587; without one, the installation's."
        )
