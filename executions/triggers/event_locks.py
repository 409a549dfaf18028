"""Lock together all rows that one event's starts need, in the order that every start uses.

Each start locks its workspace, its counters and its concurrency keys, one after another. Without
this module, the starts of one event would lock keys in the order of their triggers, and the starts
of two events could deadlock.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from executions.access.actor import Actor
from executions.admission import concurrency
from executions.admission.capacity import hold
from executions.admission.concurrency import ConcurrencyKey
from executions.errors import ValkyrError
from executions.models import Event, Trigger
from executions.payloads import is_reference
from executions.quotas.counting import room
from executions.triggers.request import chosen_version


def take(triggers: Sequence[Trigger], event: Event, payload: Any, actor: Actor) -> None:
    """Lock all rows that the starts of these triggers lock, before the first start.

    With fewer than two keys, only one order of locks is possible, so it locks nothing. For a stored
    payload, which the first start locks, it locks even a single key.
    """
    keys = _keys(triggers, payload)
    if len(keys) < (1 if is_reference(event.payload) else 2):
        return
    with suppress(ValkyrError):  # each start is then rejected for the same reason
        limits = hold(event.workspace_id, actor.user_id)
        room(event.workspace_id, limits)
        concurrency.lock(keys)


def _keys(triggers: Sequence[Trigger], payload: Any) -> set[ConcurrencyKey]:
    keys: set[ConcurrencyKey] = set()
    with concurrency.one_budget():
        for trigger in triggers:
            # A start without a version, or whose key cannot be rendered, reports this error itself.
            with suppress(ValkyrError):
                rule = chosen_version(trigger.workflow, None).graph.concurrency
                [key] = concurrency.render_all(rule, trigger.workflow_id, [payload])
                keys |= set() if key is None else {key}
    return keys
