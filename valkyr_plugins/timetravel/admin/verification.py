"""The verification of an execution: an operation that requests it, and a panel that shows it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils.translation import gettext, ngettext

from executions.public.access import Action, Actor, Operation
from executions.public.admin import (
    AdminOperation,
    PageSection,
    WorkflowExecutionAdmin,
    as_json,
    execution_panels,
    marks,
    may,
)
from executions.public.jobs import Job, JobFailed, JobState, newest, wait
from executions.public.language import lazy
from executions.public.models import FINAL, Permission, WorkflowExecution
from valkyr_plugins.timetravel import verification as verification_jobs

TITLE = lazy("Verification")
HIDDEN = lazy("hidden: needs the permission view_payloads")
HEADERS = (lazy("Step"), lazy("Value"), lazy("Recorded"), lazy("Recomputed"))
SIDES = ("recorded", "replayed")


def verification(request: HttpRequest, execution: WorkflowExecution) -> PageSection | None:
    """Return a panel with the newest verification of the last hour; None if there is none."""
    job = newest(verification_jobs.KIND, execution.pk)
    if job is None:
        return None
    if job.state == JobState.FAILED:
        return PageSection(TITLE, body=job.error, error=True)
    if job.state != JobState.SUCCESS:
        if job.state == JobState.QUEUED:
            text = gettext("The verification is queued. Reload the page to see the result.")
        else:
            text = gettext("The verification is running. Reload the page to see the result.")
        return PageSection(TITLE, body=text)
    return _found(request, execution, job)


def _found(request: HttpRequest, execution: WorkflowExecution, job: Job) -> PageSection:
    found: Any = job.result
    shows = may(request, execution, Permission.VIEW_PAYLOADS)
    limit = (
        ""
        if found["complete"]
        else gettext(" The comparison is incomplete: there was too much data.")
    )
    return PageSection(
        TITLE,
        headers=HEADERS,
        rows=[
            [
                marks.path(difference["step_path"])
                if difference["step_path"]
                else gettext("the execution"),
                difference["field"],
                *(as_json(difference[side]) if shows else HIDDEN for side in SIDES),
            ]
            for difference in found["differences"]
        ],
        empty=gettext("No differences."),
        error=not found["same"],
        more=ngettext(
            "{steps:,} step was recomputed at the request of {requested_by}.{limit}",
            "{steps:,} steps were recomputed at the request of {requested_by}.{limit}",
            found["steps"],
        ).format(steps=found["steps"], requested_by=job.requested_by, limit=limit),
    )


def _verify(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    job = wait(verification_jobs.request(pk, actor.name))
    if job.state == JobState.FAILED:
        raise JobFailed(job.error, job.error_code)


def _refuse_live(row: WorkflowExecution) -> str:
    if row.state in FINAL:
        return ""
    return gettext("Only finished executions can be verified. Wait until the execution ends.")


VERIFY = AdminOperation(
    Operation(
        name="verify",
        apply=_verify,
        needs=Action.VIEW,
        refuse=_refuse_live,
    ),
    title=lazy("Verify…"),
    icon="fact_check",
    done=lazy("verification requested: its result is under Verification on the execution's page"),
    question=lazy(
        "A worker recomputes every step's inputs and every decision from the recorded results, and "
        "lists the differences. No steps run."
    ),
    bulk=False,
)

execution_panels.append(verification)
WorkflowExecutionAdmin.offer(VERIFY)
