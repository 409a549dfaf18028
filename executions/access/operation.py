"""An operation: something a user may do to one row, whichever way it is asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from executions.access.actor import Actor
from executions.access.powers import Action, Power


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """Something a user may do to one row of a model. Its page and its API endpoint share it.

    `needs` is the power that the user needs in the row's workspace; the caller checks it.
    `apply(id, actor, data)` does it to one row, in a transaction of its own, and raises a
    ValkyrError when it cannot; `data` are the validated values of a form or of a request's body.
    `refuse(row)` gives the reason why it cannot be done in the row's present state, or "". It
    spares the user a useless button; `apply` decides.
    """

    name: str
    apply: Callable[[UUID, Actor, Mapping[str, Any]], Any]
    needs: Power = Action.OPERATE
    refuse: Callable[[Any], str] = field(default=lambda row: "")
