"""Roll-backs, forks and replays on the pages of executions."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.db.models import F
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.public.access import (
    Action,
    Actor,
    Operation,
    Powers,
    check_change,
    may_override,
    name_path,
    powers_on_row,
)
from executions.public.admin import (
    AdminOperation,
    JSONTextField,
    PageSection,
    ReasonForm,
    WorkflowExecutionAdmin,
    execution_panels,
    links,
    marks,
)
from executions.public.admin_skin import DialogForm, Select, TextInput
from executions.public.errors import ValkyrError
from executions.public.language import lazy
from executions.public.models import ExecutionState, WorkflowExecution
from runners.public.forks import LATEST, PINNED, Overrides
from runners.public.models import Run
from valkyr_plugins.timetravel.checkpoints import FIRST, take_by_hand
from valkyr_plugins.timetravel.fork import fork, replay
from valkyr_plugins.timetravel.fork_changes import change_of, origins
from valkyr_plugins.timetravel.models import Checkpoint, CheckpointKind
from valkyr_plugins.timetravel.restore_points import DONE
from valkyr_plugins.timetravel.rollback import roll_back

SHOWN = 100
CHECKPOINT, STEP = "checkpoint:", "step:"
CAN_GO_BACK = (ExecutionState.RUNNING, ExecutionState.PAUSED, ExecutionState.FAILED)


class PointForm(ReasonForm):
    """Asks for a point; offers the newest checkpoints and finished steps."""

    point = forms.ChoiceField(
        widget=Select(),
        label=lazy("To"),
        help_text=lazy("Later steps run again."),
    )
    field_order = ("point", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Offer the execution's points as choices."""
        super().__init__(*args, **kwargs)
        field = self.fields["point"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = _points(self.object_id)


class ForkForm(ReasonForm):
    """Asks for the step from which the fork starts, and for the changes that the user may make."""

    step = forms.CharField(
        label=lazy("From step"),
        required=False,
        max_length=1000,
        widget=TextInput(attrs={"autocomplete": "off"}),
        help_text=lazy(
            "The step's path, such as charge.main; the step runs again. Leave empty to start from "
            "the beginning. If the step follows an approval, the fork starts with that approval, "
            "which is requested again."
        ),
    )
    version = forms.ChoiceField(
        choices=((PINNED, lazy("the execution's version")), (LATEST, lazy("the latest version"))),
        widget=Select(),
        label=lazy("Version"),
    )
    payload = JSONTextField(
        label=lazy("Payload (JSON)"),
        rows=3,
        help_text=lazy("Merged into the payload. Leave empty to keep it."),
    )
    variables = JSONTextField(
        label=lazy("Variables (JSON)"),
        rows=3,
        must_be_object=True,
        help_text=lazy("Merged into the variables. Leave empty to keep them."),
    )
    inputs = JSONTextField(
        label=lazy("The step's inputs (JSON)"),
        rows=4,
        must_be_object=True,
        help_text=lazy('Merged into the inputs of that step: {"url": "https://…"}.'),
    )
    field_order = ("step", "version", "payload", "variables", "inputs", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Preset the step that the URL names, and hide fields that the user may not change."""
        super().__init__(*args, **kwargs)
        self.initial.setdefault("step", self.request.GET.get("step", ""))
        self.origin = origins().filter(pk=self.object_id).first()
        self.may: Powers | None = None
        if self.origin is not None:
            self.may = powers_on_row(self.request.user, self.origin)
            for name in _hidden(self.may):
                self.fields[name].widget = forms.HiddenInput()

    def clean(self) -> dict[str, Any]:
        """Reject the changes that the user may not make."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if self.origin is None or self.may is None or self.errors:
            return given
        asked = change_of(
            self.origin,
            inside=bool(given["step"]),
            version=given["version"],
            overrides=_overrides(given),
        )
        try:
            check_change(self.may, asked)
        except ValkyrError as error:
            raise forms.ValidationError(error.message) from None
        return given


def _hidden(may: Powers) -> list[str]:
    """Return the fields to hide, because the user may not change them."""
    inside = [] if may.allows(Action.OPERATE) else ["step", "inputs"]
    return inside if may_override(may) else [*{*inside, "variables", "inputs"}]


def _overrides(data: Mapping[str, Any]) -> Overrides:
    step, inputs = data["step"], data["inputs"]
    return Overrides(
        input=data["payload"] or None,
        variables=data["variables"],
        steps={step: inputs} if inputs else {},
    )


def _points(object_id: Any) -> list[tuple[str, str]]:
    if object_id is None:
        return []
    rows = Checkpoint.objects.filter(execution_id=object_id, epoch=F("execution__epoch"))
    marks = [
        (f"{CHECKPOINT}{pk}", _label(number, name, path))
        for pk, number, name, path in rows.order_by("-sequence").values_list(
            "pk", "sequence", "name", "step_path"
        )[:SHOWN]
    ]
    steps = (
        Run.objects.filter(DONE, execution_id=object_id, superseded=False)
        .order_by("-finished_at", "-id")
        .values_list("step_path", flat=True)[:SHOWN]
    )
    return [
        *marks,
        *(
            (f"{STEP}{path}", gettext("right after step {path}").format(path=path))
            for path in steps
        ),
    ]


def _label(number: int, name: str, path: str) -> str:
    """Return a checkpoint as a choice, with its name or its step, if it has one."""
    after = gettext("after {path}").format(path=path) if path else ""
    known = _name(number, name) or after
    text = gettext("checkpoint #{number}: {name}") if known else gettext("checkpoint #{number}")
    return text.format(number=number, name=known)


def _name(number: int, name: str) -> str:
    """Return a checkpoint's name; a fixed text for the checkpoint with which a fork begins."""
    return gettext("the start of the fork") if number == FIRST else name


def _roll_back(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowExecution:
    point, reason = data["point"], data["reason"]
    if point.startswith(CHECKPOINT):
        checkpoint = UUID(point.removeprefix(CHECKPOINT))
        return roll_back(pk, checkpoint_id=checkpoint, actor=actor, reason=reason)
    return roll_back(pk, step_path=point.removeprefix(STEP), actor=actor, reason=reason)


def _fork(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowExecution:
    step = data["step"]
    if data["inputs"] and not step:
        raise ValkyrError(gettext("Enter the step whose inputs you want to change."))
    return fork(
        pk,
        step_path=step or None,
        version=data["version"],
        overrides=_overrides(data),
        actor=actor,
        reason=data["reason"],
    )


def _page_of(execution: WorkflowExecution) -> str:
    return links.page("executions_workflowexecution", execution.pk)


def _refuse_final(row: WorkflowExecution) -> str:
    if row.state in CAN_GO_BACK:
        return ""
    word = ExecutionState(row.state).label
    return gettext("You cannot roll back: this execution is {word}. Fork it instead.").format(
        word=word
    )


ROLL_BACK = AdminOperation(
    Operation(
        name="roll_back",
        apply=_roll_back,
        refuse=_refuse_final,
    ),
    title=lazy("Roll back…"),
    icon="history",
    done=lazy("rolled back"),
    question=lazy(
        "Steps after the chosen point run again. Running steps are cancelled, and their results "
        "are discarded."
    ),
    form=PointForm,
    danger=True,
    bulk=False,
)
FORK = AdminOperation(
    Operation(
        name="fork",
        apply=_fork,
        needs=Action.TRIGGER,
    ),
    title=lazy("Fork…"),
    icon="fork_right",
    done=lazy("forked"),
    question=lazy(
        "Starts a new execution from a step of this one. This execution does not change."
    ),
    form=ForkForm,
    bulk=False,
    destination=_page_of,
)
REPLAY = AdminOperation(
    Operation(
        name="replay",
        apply=lambda pk, actor, data: replay(pk, actor=actor, reason=data["reason"]),
        needs=Action.TRIGGER,
    ),
    title=lazy("Replay…"),
    icon="replay",
    done=lazy("started again"),
    question=lazy("Starts a new execution with the same version and payload."),
    destination=_page_of,
)

WorkflowExecutionAdmin.offer(ROLL_BACK, FORK, REPLAY)


# The checkpoints on the execution's page, and the operation that takes one manually.


CHECKPOINTS_SHOWN = 50
HEADERS = (
    lazy("Number"),
    lazy("Name"),
    lazy("After step"),
    lazy("Taken"),
    lazy("Created by"),
    lazy("Available for roll-back"),
)


class NameForm(DialogForm):
    """Asks for the name of a checkpoint."""

    name = forms.CharField(
        required=False,
        max_length=200,
        widget=TextInput(attrs={"autocomplete": "off"}),
        help_text=lazy("A name to find this point again, such as “before the second try”."),
        label=lazy("Name"),
    )


TAKE_CHECKPOINT = AdminOperation(
    Operation(
        name="checkpoint",
        apply=lambda pk, actor, data: take_by_hand(pk, name=data["name"], actor=actor),
    ),
    title=lazy("Take checkpoint…"),
    icon="flag",
    done=lazy("marked by a checkpoint"),
    question=lazy("Saves the current variables. You can roll the execution back to this point."),
    form=NameForm,
)


def checkpoints(request: HttpRequest, execution: WorkflowExecution) -> PageSection | None:
    """Return a section with the last checkpoints, the newest first; None if there are none."""
    found = list(
        Checkpoint.objects.filter(execution=execution)
        .select_related("created_by")
        .only("sequence", "name", "step_path", "kind", "epoch", "created_at",
              name_path("created_by"))
        .order_by("-sequence")[:CHECKPOINTS_SHOWN]
    )  # fmt: skip
    if not found:
        return None
    return PageSection(
        gettext("Checkpoints"),
        headers=HEADERS,
        rows=[
            [
                str(row.sequence),
                marks.clipped(_name(row.sequence, row.name)) or marks.EMPTY,
                row.step_path or marks.EMPTY,
                marks.ago(row.created_at),
                _who(row),
                gettext("yes")
                if row.epoch == execution.epoch
                else gettext("no: rolled back to an earlier point"),
            ]
            for row in found
        ],
        folded=True,
    )


def _who(row: Checkpoint) -> str:
    if row.kind == CheckpointKind.AUTO:
        return gettext("the engine")
    return row.created_by.get_username() if row.created_by else marks.EMPTY


execution_panels.insert(0, checkpoints)
WorkflowExecutionAdmin.offer(TAKE_CHECKPOINT)
