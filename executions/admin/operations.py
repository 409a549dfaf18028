"""Operations of the admin: one description serves the row menu, the object's page and the bulk bar.

Each asks first (GET shows the question, POST acts), does the operation that the API does, and
reports what was done and what was skipped and why. Nothing changes state on GET.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from unfold.forms import BaseDialogForm

from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.access.table import Power
from executions.admin.forms import ReasonForm
from executions.errors import ValkyrError, WithProblems


@dataclass(frozen=True)
class AdminOperation:
    """How the admin offers an operation: its words, its form and where it leads.

    `destination` gives the page to show after doing it to one row, from what the operation
    returned. With `shows`, what it returned is shown once, under that label, and nowhere else.
    """

    operation: Operation
    title: str
    icon: str
    done: str
    question: str
    form: type[BaseDialogForm] = ReasonForm
    danger: bool = False
    primary: bool = False
    bulk: bool = True
    destination: Callable[[Any], str] | None = None
    shows: str = ""

    @property
    def name(self) -> str:
        """The operation's name: part of the page's address."""
        return self.operation.name

    @property
    def needs(self) -> Power:
        """The power that the user needs in the row's workspace."""
        return self.operation.needs


@dataclass
class OperationReport:
    """What an operation did: how many rows, and for each other one why not."""

    done: int = 0
    skipped: list[str] = field(default_factory=list)
    result: Any = None

    def sentence(self, operation: AdminOperation, limit: int = 3) -> str:
        """What was done and what not: "3 requeued, 2 skipped: …", `limit` reasons at most."""
        text = f"{self.done} {operation.done}"
        if not self.skipped:
            return f"{text}."
        reasons = list(dict.fromkeys(self.skipped))
        shown = " ".join(reasons[:limit])
        rest = f" And {len(reasons) - limit} more reasons." if len(reasons) > limit else ""
        return f"{text}, {len(self.skipped)} skipped: {shown}{rest}"


def perform(
    operation: AdminOperation, ids: Iterable[UUID], actor: Actor, data: Mapping[str, Any]
) -> OperationReport:
    """Do it to each row, each in its own transaction; one that cannot be done stops no other."""
    report = OperationReport()
    for pk in ids:
        try:
            report.result = operation.operation.apply(pk, actor, data)
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
