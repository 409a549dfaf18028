"""The forms that create and start a redrive."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.text import format_lazy
from django.utils.translation import gettext

from dlq.public.models import DeadLetterEntry, Resolution
from executions.public.access import Actor, Power
from executions.public.admin import JSONTextField, ReasonForm, links, scoped
from executions.public.admin_skin import IntegerInput, Select, Textarea, TextInput
from executions.public.api import BOUND, FREE_IDS, bounded_count
from executions.public.database import transaction
from executions.public.errors import ValkyrError, WithProblems
from executions.public.language import lazy
from executions.public.models import Permission
from valkyr_plugins.redrive.lifecycle import make
from valkyr_plugins.redrive.models import Redrive, RedriveScope
from valkyr_plugins.redrive.options import (
    LATEST,
    PINNED,
    RedriveOptions,
    check_approved,
    needed,
    scopes,
)

# Number of entries above which the user must type the number to start the redrive.
TYPED_ABOVE = 100
# Above that number, the form proposes this canary and this percentage of failures at which to stop.
CAREFUL = {"canary": 10, "stop_above": 20}


def _text(**attrs: Any) -> TextInput:
    return TextInput(attrs={"autocomplete": "off", **attrs})


def _scopes() -> list[tuple[str, str]]:
    offered = scopes()
    return [choice for choice in RedriveScope.choices if choice[0] in offered]


class RedriveForm(forms.Form):
    """The form for a redrive's scope, changes, pace and reason."""

    scope = forms.ChoiceField(
        label=lazy("What runs again"),
        choices=_scopes,
        widget=Select,
        help_text=lazy(
            "The first option continues the execution. The others start new executions and do not "
            "change the original."
        ),
    )
    from_step = forms.CharField(
        label=lazy("From step"),
        required=False,
        max_length=1000,
        widget=_text(),
        help_text=lazy(
            "For the option “from a chosen step on”: the step's path, such as charge.main. Leave "
            "empty for the failed step."
        ),
    )
    version = forms.CharField(
        required=False,
        max_length=10,
        widget=_text(placeholder=PINNED),
        help_text=format_lazy(
            lazy(
                'For new executions: "{pinned}" (the version of the failed execution), "{latest}" '
                "or a number."
            ),
            pinned=PINNED,
            latest=LATEST,
        ),
        label=lazy("Version"),
    )
    overrides = JSONTextField(
        label=lazy("Overrides (JSON merge patch)"),
        rows=5,
        must_be_object=True,
        help_text=lazy(
            "Merged into the inputs of the step that runs first, or into the payload if the whole "
            "execution runs again; null removes a key. Leave empty to change nothing."
        ),
    )
    expression = forms.CharField(
        label=lazy("Or an expression that returns a patch for each dead letter"),
        required=False,
        max_length=10_000,
        widget=Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        help_text=lazy(
            "The expression can read “inputs”, “error”, “attempts” and “entry” (the dead letter, "
            "for example “entry.stepPath”)."
        ),
    )
    rate = forms.FloatField(
        label=lazy("Maximum per second"),
        required=False,
        min_value=0.01,
        max_value=10_000,
        widget=_text(inputmode="decimal"),
        help_text=lazy("Leave empty for no limit."),
    )
    max_in_flight = forms.IntegerField(
        label=lazy("Maximum in progress"),
        required=False,
        min_value=1,
        widget=IntegerInput,
        help_text=lazy("Maximum number that run at once. Leave empty for no limit."),
    )
    canary = forms.IntegerField(
        label=lazy("Canary"),
        required=False,
        min_value=0,
        widget=IntegerInput,
        help_text=lazy("Send this many first and wait for their results."),
    )
    stop_above = forms.FloatField(
        label=lazy("Stop if more than this percentage fail again"),
        required=False,
        min_value=0,
        max_value=100,
        widget=_text(inputmode="decimal"),
        help_text=lazy(
            "Of the canaries, and of the last 100 results. If empty, only a failed canary stops "
            "the redrive."
        ),
    )
    reason = forms.CharField(
        required=False,
        max_length=2_000,
        widget=_text(),
        help_text=lazy("Stored with the redrive and in the activity log."),
        label=lazy("Reason"),
    )

    def clean_version(self) -> str | int:
        """Return the version: pinned, latest or a number. Raises ValidationError for other text."""
        text = str(self.cleaned_data["version"] or PINNED).strip()
        if text in (PINNED, LATEST):
            return text
        if not text.isdecimal() or int(text) < 1:
            raise forms.ValidationError(
                gettext('Expected "{pinned}", "{latest}" or a number, found {text!r}.').format(
                    pinned=PINNED, latest=LATEST, text=text
                )
            )
        return int(text)

    def clean(self) -> dict[str, Any]:
        """Check the form. Raises ValidationError if both overrides and an expression are given."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("overrides") and data.get("expression"):
            raise forms.ValidationError(gettext("Give overrides or an expression, not both."))
        return data

    @property
    def changes_inputs(self) -> bool:
        """Return whether the form changes the entries' inputs."""
        return bool(self.cleaned_data.get("overrides") or self.cleaned_data.get("expression"))

    def wish(self, selection: Any, group_id: Any) -> RedriveOptions:
        """Return the values of the valid form as options."""
        data = self.cleaned_data
        return RedriveOptions(
            selection=selection,
            group_id=group_id,
            scope=data["scope"],
            from_step=data["from_step"],
            version=data["version"],
            overrides=data["overrides"] or None,
            expression=data["expression"],
            rate=data["rate"],
            max_in_flight=data["max_in_flight"],
            canary=data["canary"] or 0,
            stop_above=data["stop_above"],
            reason=data["reason"],
        )


class StartForm(ReasonForm):
    """The form that starts a redrive; it asks for the number of entries if there are many."""

    count = forms.IntegerField(
        label=lazy("Number of dead letters"),
        widget=IntegerInput,
        help_text=lazy("Type the number of dead letters to confirm."),
    )
    field_order = ("count", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Redrive.objects.filter(pk=self.object_id) if self.object_id else None
        self.total = rows.values_list("total", flat=True).first() if rows is not None else None
        if self.total is not None and self.total <= TYPED_ABOVE:
            del self.fields["count"]

    def clean_count(self) -> int:
        """Return the entered number. Raises ValidationError unless it is the number of entries."""
        count = int(self.cleaned_data["count"])
        if count != self.total:
            raise forms.ValidationError(
                gettext("This redrive has {total} dead letters, not {count}.").format(
                    total=self.total, count=count
                )
            )
        return count


# The page with the entries and options of a redrive, regardless of where the entries were selected.


SHOWN = 5


@dataclass(frozen=True, slots=True)
class Chosen:
    """The chosen entries, how they were chosen, and the form's hidden fields."""

    rows: QuerySet[DeadLetterEntry]
    selection: Mapping[str, Any]
    title: str
    back: str
    group_id: UUID | None = None
    hidden: Sequence[tuple[str, str]] = field(default_factory=tuple)


def ask(request: HttpRequest, chosen: Chosen, *, sent: bool) -> HttpResponse:
    """Show the form or, if it was `sent`, its result: the draft's page, or the form with errors."""
    open_rows = may_go(request, chosen.rows)
    count = bounded_count(open_rows)
    form = RedriveForm(data=request.POST if sent else None, initial=proposed(count))
    if sent and form.is_valid():
        made = _made(request, chosen, form)
        if made is not None:
            return HttpResponseRedirect(links.page("valkyr_redrive_redrive", made.pk))
    context = {
        **admin.site.each_context(request),
        "title": gettext("New redrive"),
        "chosen": chosen,
        "form": form,
        "count": number_text(count),
        "number": count,
        "none": count == 0,
        "examples": open_rows.defer("original_inputs", "original_config").order_by("pk")[:SHOWN],
    }
    return TemplateResponse(request, "redrive/new.html", context)


def may_go(
    request: HttpRequest,
    rows: QuerySet[DeadLetterEntry],
    powers: Iterable[Power] = (Permission.REDRIVE,),
) -> QuerySet[DeadLetterEntry]:
    """Return the open rows on which the user has these powers."""
    for power in powers:
        rows = scoped(request, rows, power)
    return rows.filter(resolution=Resolution.PENDING)


def proposed(count: int) -> dict[str, Any]:
    """Return the form's initial values; more than 100 entries get a canary and a stop limit."""
    return {"scope": "STEP"} | (CAREFUL if count > TYPED_ABOVE else {})


def number_text(count: int) -> str:
    """Return a count as text; a count that reaches the bound ends with `+`."""
    return f"{BOUND:,}+" if count >= BOUND else f"{count:,}"


def _made(request: HttpRequest, chosen: Chosen, form: RedriveForm) -> Redrive | None:
    """Create and return the draft; if that fails, add the reason to the form and return None."""
    wish = form.wish(dict(chosen.selection), chosen.group_id)
    rows = may_go(request, chosen.rows, needed(wish))
    if reason := refusal(request, rows, form):
        form.add_error(None, reason)
        return None
    try:
        with transaction.atomic():
            redrive = make(rows, wish, actor=Actor.of_request(request))
            check_approved(request.user, redrive)
        return redrive
    except ValkyrError as error:
        explain(form, error)
    return None


def explain(form: RedriveForm, error: ValkyrError) -> None:
    """Add an error to the form, with a separate line for each problem."""
    problems = error.problems if isinstance(error, WithProblems) else []
    for problem in problems:
        form.add_error(None, f"{getattr(problem, 'path', '')}: {problem.message}".lstrip(": "))
    if not problems:
        form.add_error(None, str(error))


def refusal(request: HttpRequest, rows: QuerySet[DeadLetterEntry], form: RedriveForm) -> str:
    """Return the reason why the user cannot redrive these rows; "" if the user can."""
    few = FREE_IDS + 1
    count = bounded_count(rows, few)
    if count == 0:
        wanted = ", ".join(needed(form.wish({}, None)))
        return gettext(
            "You cannot redrive any of these dead letters: none is open, or you do not have the "
            "required permissions ({wanted})."
        ).format(wanted=wanted)
    if count == few and bounded_count(scoped(request, rows, Permission.BULK), few) < few:
        return gettext(
            "You need the permission “bulk” to redrive more than {number} dead letters at once. "
            "Ask an administrator."
        ).format(number=FREE_IDS)
    return ""
