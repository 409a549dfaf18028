"""Operations of the admin: one description serves the row menu, the page and the bulk bar.

Each operation asks for confirmation: GET shows the question, and POST performs the API's operation.
Then the page reports how many rows were changed and skipped, and why. GET never changes state.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django import forms
from django.db import DatabaseError
from django.db.models import Model
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.access.powers import Power
from executions.admin.skin import DialogForm, Textarea, TextInput
from executions.admin.values import preformatted
from executions.audit.revealing import reveal
from executions.errors import ValkyrError, WithProblems
from executions.language import lazy
from executions.states import Permission

JSON_TYPES = {
    type(None): "null", bool: "boolean", int: "number", float: "number", str: "string",
    list: "array",
}  # fmt: skip


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


class JSONTextField(forms.CharField):
    """A text area whose value is parsed as JSON; syntax errors name the line and column."""

    def __init__(self, *, rows: int = 8, must_be_object: bool = False, **options: Any) -> None:
        self.must_be_object = must_be_object
        options.setdefault("required", False)
        widget = Textarea(attrs={"rows": rows, "spellcheck": "false"})
        widget.attrs["class"] = f"{widget.attrs.get('class', '')} vk-code"
        super().__init__(widget=widget, strip=True, **options)

    def clean(self, value: Any) -> Any:
        """Return the parsed value; {} for empty input. Raises ValidationError if it is invalid."""
        text = super().clean(value)
        if not text:
            return {}
        try:
            parsed = json.loads(text, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            raise forms.ValidationError(
                gettext("Invalid JSON: {msg} at line {lineno}, column {colno}.").format(
                    msg=error.msg, lineno=error.lineno, colno=error.colno
                )
            ) from None
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(
                gettext("Invalid JSON: {error}.").format(error=error)
            ) from None
        if self.must_be_object and not isinstance(parsed, dict):
            raise forms.ValidationError(
                gettext("Expected an object such as {{}}, found {name}.").format(
                    name=JSON_TYPES[type(parsed)]
                )
            )
        return parsed


class ReasonForm(DialogForm):
    """Asks for an optional reason for the audit trail."""

    reason = forms.CharField(
        required=False,
        max_length=500,
        widget=TextInput(attrs={"autocomplete": "off"}),
        help_text=lazy("Recorded in the activity log."),
        label=lazy("Reason"),
    )


class PayloadForm(DialogForm):
    """Asks for the payload of a new execution."""

    payload = JSONTextField(
        label=lazy("Payload (JSON)"),
        rows=10,
        help_text=lazy("Validated against the workflow's input schema. Leave empty for {}."),
    )


class OverridesForm(ReasonForm):
    """Asks for a change to the step's inputs, and for a reason."""

    overrides = JSONTextField(
        label=lazy("Overrides (JSON)"),
        rows=8,
        must_be_object=True,
        required=True,
        help_text=lazy(
            'Merged into the step\'s inputs, including nested keys: {"url": "https://…"}.'
        ),
    )
    field_order = ("overrides", "reason")


class NotesForm(DialogForm):
    """Asks for a note that is kept with the object."""

    notes = forms.CharField(
        required=False,
        max_length=5_000,
        widget=Textarea(attrs={"rows": 4}),
        help_text=lazy(
            "For example, the cause or the reason for your decision. Stored with the dead letter."
        ),
        label=lazy("Notes"),
    )


@dataclass(frozen=True)
class AdminOperation:
    """An operation in the admin: its texts, its form and its next page.

    `destination` returns the next page after an operation on one row, from the operation's result.
    With `shows`, the result is shown once, under that label, and nowhere else.
    """

    operation: Operation
    title: str
    icon: str
    done: str
    question: str
    form: type[DialogForm] = ReasonForm
    danger: bool = False
    primary: bool = False
    bulk: bool = True
    destination: Callable[[Any], str] | None = None
    shows: str = ""

    @property
    def name(self) -> str:
        """Return the operation's name; the page's URL contains it, with dashes for underscores."""
        return self.operation.name

    @property
    def sensitive(self) -> bool:
        """Return whether the operation shows a secret, and therefore requires a recent sign-in."""
        return bool(self.shows)

    @property
    def needs(self) -> Power:
        """Return the power that the user needs on the row."""
        return self.operation.needs


@dataclass
class OperationReport:
    """The result of an operation: the numbers of changed and skipped rows, and the reasons."""

    done: int = 0
    skipped: int = 0
    reasons: list[str] = field(default_factory=list)
    result: Any = None

    def sentence(self, operation: AdminOperation, limit: int = 3) -> str:
        """Return a sentence such as "3 requeued, 2 skipped: …", with at most `limit` reasons."""
        text = f"{self.done} {operation.done}"
        if not self.skipped:
            return f"{text}."
        reasons = list(dict.fromkeys(self.reasons))
        shown = " ".join(reasons[:limit])
        rest = (
            ngettext(
                " And {count} more reason.", " And {count} more reasons.", len(reasons) - limit
            ).format(count=len(reasons) - limit)
            if len(reasons) > limit
            else ""
        )
        return gettext("{text}, {count} skipped: {shown}{rest}").format(
            text=text, count=self.skipped, shown=shown, rest=rest
        )


def perform(
    operation: AdminOperation, ids: Iterable[UUID], actor: Actor, data: Mapping[str, Any]
) -> OperationReport:
    """Perform an operation on each row in its own transaction, and return the report.

    The function continues after a row that fails.
    """
    report = OperationReport()
    for pk in ids:
        try:
            report.result = operation.operation.apply(pk, actor, data)
        except (ValkyrError, DatabaseError) as error:
            report.skipped += 1
            report.reasons += _reasons(pk, error)
        else:
            report.done += 1
    return report


def _reasons(pk: UUID, error: ValkyrError | DatabaseError) -> list[str]:
    if isinstance(error, DatabaseError):
        first = (str(error).splitlines() or [gettext("database error")])[0]
        return [gettext("{pk}: {first}; try again.").format(pk=pk, first=first)]
    problems = error.problems if isinstance(error, WithProblems) else ()
    return [f"{error} {_where(problem)}" for problem in problems] or [str(error)]


def _where(problem: Any) -> str:
    path = getattr(problem, "path", "")
    message = getattr(problem, "message", str(problem))
    return f"{path}: {message}" if path else message


# “Reveal…” on pages with payloads: shows them unmasked once, for a recorded reason.


class GivenReasonForm(ReasonForm):
    """Asks for a reason, which is required."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = True


def reveal_operation(model: type[Model], fields: Mapping[str, str]) -> AdminOperation:
    """Return the operation that shows values of one row; `fields` maps names to attributes."""

    def apply(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> SafeString:
        values = reveal(model, pk, fields, actor=actor, reason=data["reason"])
        return preformatted(json.dumps(values, ensure_ascii=False, indent=2, default=str))

    return AdminOperation(
        Operation(
            name="reveal",
            apply=apply,
            needs=Permission.REVEAL,
        ),
        title=lazy("Reveal…"),
        icon="visibility",
        done=lazy("revealed"),
        question=lazy(
            "Shows the stored payloads without masking. The activity log records your access and "
            "the reason."
        ),
        form=GivenReasonForm,
        bulk=False,
        shows=lazy("Payloads"),
    )
