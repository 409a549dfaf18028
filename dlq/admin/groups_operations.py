"""Users' operations on failure groups, each with its form and its button."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext

from dlq.groups import operations
from dlq.groups.facets import FACETS
from dlq.models import FailureGroup
from executions.access import Action
from executions.access.people import person_named
from executions.admin import links
from executions.admin.marks import clipped
from executions.admin.operations import AdminOperation, ReasonForm
from executions.admin.scope import scoped
from executions.admin.skin import DialogForm, IntegerInput, Select, Textarea, TextInput
from executions.language import lazy

LARGEST = 2**31 - 1
OFFERED = 100
NAPS = {
    "": (lazy("no time limit"), None),
    "1h": (lazy("1 hour"), timedelta(hours=1)),
    "1d": (lazy("1 day"), timedelta(days=1)),
    "7d": (lazy("7 days"), timedelta(days=7)),
    "30d": (lazy("30 days"), timedelta(days=30)),
}


def _number(label: str, **options: Any) -> forms.IntegerField:
    widget = IntegerInput(attrs={"autocomplete": "off"})
    return forms.IntegerField(
        label=label, required=False, max_value=LARGEST, widget=widget, **options
    )


class SnoozeForm(ReasonForm):
    """Asks when the snooze ends; the first condition that is met ends it."""

    nap = forms.ChoiceField(
        label=lazy("Duration"),
        required=False,
        choices=[(key, title) for key, (title, _) in NAPS.items()],
        initial="1d",
        widget=Select,
    )
    more = _number(lazy("Number of further failures"), min_value=1)
    version = _number(lazy("Failure in a version later than"), min_value=0)
    field_order = ("nap", "more", "version", "reason")

    def clean(self) -> dict[str, Any]:
        """Return the data with `until`, a time or None.

        Raises ValidationError if no end is given.
        """
        given: dict[str, Any] = super().clean() or self.cleaned_data
        nap = NAPS[given.get("nap") or ""][1]
        given["until"] = timezone.now() + nap if nap else None
        if not any(given.get(name) is not None for name in ("until", "more", "version")):
            raise ValidationError(gettext("Enter a duration, a number of failures or a version."))
        return given


class ResolveForm(ReasonForm):
    """Asks for the version in which the failure is fixed."""

    version = _number(
        lazy("Fixed in version"),
        min_value=1,
        help_text=lazy(
            "A failure in this version or later reopens the group as regressed. Leave empty for "
            "any version."
        ),
    )
    field_order = ("version", "reason")


class AssignForm(ReasonForm):
    """Asks for the group's new owner."""

    owner = forms.CharField(
        required=False,
        max_length=150,
        widget=TextInput(attrs={"autocomplete": "off"}),
        help_text=lazy("A username. Leave empty for no owner."),
        label=lazy("Owner"),
    )
    field_order = ("owner", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["owner"].initial = self.request.user.get_username()

    def clean_owner(self) -> Any:
        """Return the user's ID, or None for an empty name.

        Raises ValidationError for an unknown user.
        """
        name = self.cleaned_data["owner"].strip()
        if not name:
            return None
        person = person_named(name)
        if person is None:
            raise ValidationError(gettext("There is no user {name}.").format(name=name))
        return person.pk


class NoteForm(DialogForm):
    """Asks for the text of a note on the group."""

    text = forms.CharField(
        label=lazy("Note"), max_length=10_000, widget=Textarea(attrs={"rows": 4})
    )


class MergeForm(ReasonForm):
    """Asks for the group into which this group is merged."""

    target = forms.ChoiceField(label=lazy("Merge into"), widget=Select)
    field_order = ("target", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = scoped(self.request, FailureGroup.objects.all(), Action.OPERATE)
        rows = rows.filter(merged_into=None).exclude(pk=_pk(self.object_id))
        offered = rows.select_related("workflow").only(
            "place", "exception", "message", "workflow__name"
        )[:OFFERED]
        field: Any = self.fields["target"]
        field.choices = [(str(row.pk), clipped(f"{row.workflow.name}, {row}")) for row in offered]

    def clean_target(self) -> UUID:
        """Return the target group's ID."""
        return UUID(self.cleaned_data["target"])


class SplitForm(ReasonForm):
    """Asks for the facet by which to split the group."""

    by = forms.ChoiceField(choices=list(FACETS.items()), widget=Select, label=lazy("Split by"))
    field_order = ("by", "reason")


def _pk(object_id: Any) -> UUID | None:
    try:
        return UUID(str(object_id))
    except ValueError:
        return None


def _merged_into(result: Any) -> str:
    return links.page("dlq_failuregroup", result.pk)


OPERATIONS = (
    AdminOperation(
        operations.ACKNOWLEDGE,
        title=lazy("Acknowledge…"),
        icon="visibility",
        done=lazy("acknowledged"),
        question=lazy("Marks the group as seen and in progress."),
        primary=True,
    ),
    AdminOperation(
        operations.ASSIGN,
        title=lazy("Assign…"),
        icon="person",
        done=lazy("assigned"),
        question=lazy("Sets the owner."),
        form=AssignForm,
    ),
    AdminOperation(
        operations.NOTE,
        title=lazy("Add note…"),
        icon="edit_note",
        done=lazy("annotated"),
        question=lazy("Adds a note to the group."),
        form=NoteForm,
    ),
    AdminOperation(
        operations.SNOOZE,
        title=lazy("Snooze…"),
        icon="snooze",
        done=lazy("snoozed"),
        question=lazy(
            "Hides the group until the duration ends, the number of failures is reached, or a "
            "later version fails, whichever comes first."
        ),
        form=SnoozeForm,
    ),
    AdminOperation(
        operations.RESOLVE,
        title=lazy("Resolve…"),
        icon="check_circle",
        done=lazy("resolved"),
        question=lazy(
            "Marks the group as fixed. Open dead letters stay open: redrive or discard them."
        ),
        form=ResolveForm,
    ),
    AdminOperation(
        operations.IGNORE,
        title=lazy("Ignore…"),
        icon="visibility_off",
        done=lazy("ignored"),
        question=lazy("Stops notifications for this group. Its failures are still counted."),
    ),
    AdminOperation(
        operations.REOPEN,
        title=lazy("Reopen…"),
        icon="undo",
        done=lazy("reopened"),
        question=lazy("Reopens the group as new."),
    ),
    AdminOperation(
        operations.MUTE,
        title=lazy("Mute alerts…"),
        icon="notifications_off",
        done=lazy("muted"),
        question=lazy("Turns off alerts for this group."),
    ),
    AdminOperation(
        operations.UNMUTE,
        title=lazy("Unmute alerts…"),
        icon="notifications",
        done=lazy("unmuted"),
        question=lazy("Turns on alerts for this group again."),
        bulk=False,
    ),
    AdminOperation(
        operations.MERGE,
        title=lazy("Merge into…"),
        icon="merge",
        done=lazy("merged"),
        question=lazy("Moves all past and future failures of this group to another group."),
        form=MergeForm,
        danger=True,
        destination=_merged_into,
    ),
    AdminOperation(
        operations.SPLIT,
        title=lazy("Split by…"),
        icon="call_split",
        done=lazy("split"),
        question=lazy("Splits past and future failures into one group per value."),
        form=SplitForm,
        bulk=False,
    ),
)
