"""An operation that a user may perform on one row, through any interface."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from executions.access.actor import Actor
from executions.access.powers import Action, Power


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation on one row of a model, shared by the admin page and the API endpoint.

    `needs` is the action or permission that the user needs on the row; the caller checks it.
    `apply(id, actor, data)` performs the operation on one row, in its own transaction, and raises a
    ValkyrError if that is impossible; `data` holds the validated values of a form or of a request's
    body. `refuse(row)` returns the reason why the row's current state forbids the operation, or "".
    Pages hide the button if there is a reason; `apply` checks the state again.
    """

    name: str
    apply: Callable[[UUID, Actor, Mapping[str, Any]], Any]
    needs: Power = Action.OPERATE
    refuse: Callable[[Any], str] = field(default=lambda row: "")
