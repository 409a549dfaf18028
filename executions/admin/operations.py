"""Operations of the admin: one description serves the row menu, the object's page and the bulk bar.

Each asks first (GET shows the question, POST acts), calls the function that the API calls, and
reports what was done and what was skipped and why. Nothing changes state on GET.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from unfold.forms import BaseDialogForm

from executions.access import Action
from executions.access.actor import Actor
from executions.access.table import Power
from executions.admin.forms import ReasonForm
from executions.errors import ValkyrError, WithProblems


@dataclass(frozen=True)
class Operation:
    """Something a person may do to rows of one model.

    `apply(pk, actor, cleaned form data)` does it to one row and raises ValkyrError when it cannot.
    `needs` is what the person's role in the workspace must allow. `refuse(object)` says why it
    cannot be done now, or "". `destination` gives the page to show after doing it to one row,
    from what `apply` returned. With `shows`, what it returned is shown once, under that label,
    and nowhere else.
    """

    name: str
    title: str
    icon: str
    done: str
    question: str
    apply: Callable[[UUID, Actor, Mapping[str, Any]], Any]
    needs: Power = Action.OPERATE
    refuse: Callable[[Any], str] = field(default=lambda row: "")
    form: type[BaseDialogForm] = ReasonForm
    danger: bool = False
    primary: bool = False
    bulk: bool = True
    destination: Callable[[Any], str] | None = None
    shows: str = ""


@dataclass
class OperationReport:
    """What an operation did: how many rows, and for each other one why not."""

    done: int = 0
    skipped: list[str] = field(default_factory=list)
    result: Any = None

    def sentence(self, operation: Operation, limit: int = 3) -> str:
        """What was done and what not: "3 requeued, 2 skipped: …", `limit` reasons at most."""
        text = f"{self.done} {operation.done}"
        if not self.skipped:
            return f"{text}."
        reasons = list(dict.fromkeys(self.skipped))
        shown = " ".join(reasons[:limit])
        rest = f" And {len(reasons) - limit} more reasons." if len(reasons) > limit else ""
        return f"{text}, {len(self.skipped)} skipped: {shown}{rest}"


def perform(
    operation: Operation, ids: Iterable[UUID], actor: Actor, data: Mapping[str, Any]
) -> OperationReport:
    """Do it to each row, each in its own transaction; one that cannot be done stops no other."""
    report = OperationReport()
    for pk in ids:
        try:
            report.result = operation.apply(pk, actor, data)
        except WithProblems as error:
            report.skipped += [f"{error} {_where(problem)}" for problem in error.problems] or [
                str(error)
            ]
        except ValkyrError as error:
            report.skipped.append(str(error))
        except DatabaseError as error:
            first = (str(error).splitlines() or ["the database refused"])[0]
            report.skipped.append(f"{pk}: {first}; try again.")
        else:
            report.done += 1
    return report


def _where(problem: Any) -> str:
    path = getattr(problem, "path", "")
    message = getattr(problem, "message", str(problem))
    return f"{path}: {message}" if path else message
