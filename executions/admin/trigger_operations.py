"""Admin operations of triggers: enable, disable, pause, resume, run; show and rotate secrets."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext

from executions.admin import links
from executions.admin.operations import AdminOperation, ReasonForm
from executions.admin.skin import Select, TextInput
from executions.language import lazy
from executions.triggers import operations
from executions.triggers.webhook import MAX_OVERLAP_SECONDS, OVERLAP_SECONDS


class RotateForm(ReasonForm):
    """Asks for a reason, and for how long the current secret stays valid."""

    overlap = forms.TypedChoiceField(
        label=lazy("Accept the current secret"),
        choices=[
            (0, lazy("not at all")),
            (3_600, lazy("for an hour")),
            (OVERLAP_SECONDS, lazy("for a day")),
            (MAX_OVERLAP_SECONDS, lazy("for a week")),
        ],
        coerce=int,
        empty_value=None,  # means the default
        initial=OVERLAP_SECONDS,
        required=False,
        widget=Select(),
        help_text=lazy(
            "Both secrets are accepted during this time. Choose “not at all” if the current "
            "secret may have leaked."
        ),
    )
    field_order = ("overlap", "reason")


SWITCH_ON = AdminOperation(
    operations.SWITCH_ON,
    title=lazy("Enable…"),
    icon="toggle_on",
    done=lazy("enabled"),
    question=lazy(
        "The trigger starts executions again. Schedules do not catch up on missed times."
    ),
)
SWITCH_OFF = AdminOperation(
    operations.SWITCH_OFF,
    title=lazy("Disable…"),
    icon="toggle_off",
    done=lazy("disabled"),
    question=lazy(
        "The trigger starts no executions until you enable it. Publishing does not enable it."
    ),
)
REVEAL = AdminOperation(
    operations.REVEAL_SECRET,
    title=lazy("Show secret…"),
    icon="key",
    done=lazy("viewed"),
    question=lazy(
        "Anyone who has the secret can start this workflow. The activity log records that you "
        "viewed the secret."
    ),
    bulk=False,
    shows=lazy("The secret"),
)
ROTATE = AdminOperation(
    operations.ROTATE_SECRET,
    title=lazy("Rotate secret…"),
    icon="autorenew",
    done=lazy("secret rotated"),
    question=lazy(
        "Give the new secret to all senders. Secrets older than the current one are rejected at "
        "once."
    ),
    form=RotateForm,
    danger=True,
    bulk=False,
    shows=lazy("The new secret"),
)


class PauseForm(ReasonForm):
    """Asks until when to pause, and for a reason."""

    until = forms.DateTimeField(
        label=lazy("Pause until (UTC)"),
        widget=TextInput(attrs={"type": "datetime-local"}),
        help_text=lazy("At most 400 days ahead. The schedule then continues by itself."),
    )
    field_order = ("until", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        tomorrow = timezone.now().astimezone(UTC) + timedelta(days=1)
        self.fields["until"].initial = f"{tomorrow:%Y-%m-%dT%H:%M}"

    def clean_until(self) -> datetime:
        """Return the time in UTC. Raises ValidationError unless it is in the future."""
        until: datetime = self.cleaned_data["until"].replace(tzinfo=UTC)
        if until <= timezone.now():
            raise forms.ValidationError(gettext("Choose a time in the future."))
        return until


PAUSE = AdminOperation(
    operations.PAUSE,
    title=lazy("Pause until…"),
    icon="pause",
    done=lazy("paused"),
    question=lazy(
        "The schedule starts no executions until then. It does not catch up on the times in "
        "between."
    ),
    form=PauseForm,
)
RESUME = AdminOperation(
    operations.RESUME,
    title=lazy("Resume…"),
    icon="resume",
    done=lazy("resumed"),
    question=lazy("Ends the pause now. The schedule does not catch up on missed times."),
)
RUN_NOW = AdminOperation(
    operations.RUN_NOW,
    title=lazy("Run now…"),
    icon="play_arrow",
    done=lazy("started"),
    question=lazy(
        "Starts one execution now, in addition to the scheduled ones. Until it ends, the "
        "schedule's overlap setting treats it like a scheduled execution."
    ),
    primary=True,
    bulk=False,
    destination=lambda execution: links.page("executions_workflowexecution", execution.pk),
)
OPERATIONS = (RUN_NOW, PAUSE, RESUME, SWITCH_ON, SWITCH_OFF, REVEAL, ROTATE)
