"""A panel of an execution's dead letters, and the button "Quarantine…" on a live run's page."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

from dlq.admin.status_labels import resolution
from dlq.intake.quarantine import quarantine
from dlq.models import DeadLetterEntry
from executions.access import Action
from executions.access.operation import Operation
from executions.admin import execution as execution_admin
from executions.admin import links, marks
from executions.admin.operations import AdminOperation, ReasonForm
from executions.admin.sections import PageSection
from executions.language import lazy
from executions.models import WorkflowExecution
from runners.admin.run import RunAdmin
from runners.models import Run
from runners.states import LIVE

SHOWN = 50
HEADERS = (lazy("Step"), lazy("State"), lazy("Reason"), lazy("Since"), lazy("Resolved"))


def dead_letters(request: HttpRequest, execution: WorkflowExecution) -> PageSection | None:
    """Return a panel of the execution's newest 50 dead letters; None if there are none."""
    found = list(
        DeadLetterEntry.objects.filter(execution=execution)
        .defer("original_inputs", "original_config")
        .order_by("-id")[:SHOWN]
    )
    if not found:
        return None
    return PageSection(
        gettext("Dead letters"),
        headers=HEADERS,
        rows=[
            [
                links.to("dlq_deadletterentry", entry.pk, marks.path(entry.step_path)),
                resolution(entry.resolution),
                marks.clipped(entry.failure_reason),
                marks.ago(entry.quarantined_at),
                marks.ago(entry.resolved_at),
            ]
            for entry in found
        ],
    )


execution_admin.panels.append(dead_letters)


# Add "Quarantine…" to the page of a live run, which belongs to a lower app.


class QuarantineForm(ReasonForm):
    """Asks for a reason, which is required."""

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
        refuse=lambda run: "" if run.state in LIVE else gettext("This run has ended."),
    ),
    title=lazy("Quarantine…"),
    icon="inbox",
    done=lazy("quarantined"),
    question=lazy("Moves this live run to the dead-letter queue."),
    form=QuarantineForm,
    danger=True,
    destination=lambda entry: links.page("dlq_deadletterentry", entry.pk),
)

admin.site.unregister(Run)


@admin.register(Run)
class QuarantiningRunAdmin(RunAdmin):
    """The admin of runs, with an operation that quarantines a live run."""

    operations = (QUARANTINE, *RunAdmin.operations)
