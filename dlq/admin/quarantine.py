"""Adds "Quarantine…" to the page of a live run, which lives in the app below."""

from typing import Any

from django.contrib import admin

from dlq.intake.quarantine import quarantine
from executions.access import Action
from executions.access.operation import Operation
from executions.admin import links
from executions.admin.forms import ReasonForm
from executions.admin.operations import AdminOperation
from runners.admin.run import RunAdmin
from runners.models import Run
from runners.states import LIVE


class QuarantineForm(ReasonForm):
    """Asks why; here a reason is required."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].required = True


def _quarantine(pk: Any, actor: Any, data: Any) -> Any:
    return quarantine(pk, actor=actor, reason=data["reason"])


QUARANTINE = AdminOperation(
    Operation(
        name="quarantine",
        apply=_quarantine,
        needs=Action.OPERATE,
        refuse=lambda run: "" if run.state in LIVE else "Nothing to do: this run has ended.",
    ),
    title="Quarantine…",
    icon="inbox",
    done="quarantined",
    question="Takes this live run out of the flow into the dead-letter queue.",
    form=QuarantineForm,
    danger=True,
    destination=lambda entry: links.page("dlq_deadletterentry", entry.pk),
)

admin.site.unregister(Run)


@admin.register(Run)
class QuarantiningRunAdmin(RunAdmin):
    """Runs, with the one thing a person may do to a live one."""

    operations = (QUARANTINE, *RunAdmin.operations)
