"""Wake waiting runs because of an external event or because their timer is due.

Waking marks the row, and sends its segment if the execution can run; a worker resumes the module. A
run that no longer waits for that cause is not changed, so waking twice is harmless.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from executions import payload_store, payloads
from executions.admission import capacity
from executions.database import transaction
from executions.payload_store import writing
from executions.sealing import payload_keys
from executions.sealing.payloads import PRIVATE, UNKNOWN, place, seal_facts
from runners import statements
from runners.conf import config
from runners.dispatch.messages import resend
from runners.models import Run
from runners.states import WaitKind

ANY_KIND = tuple(kind.value for kind in WaitKind if kind is not WaitKind.BODY)


def wake(run_id: UUID, kind: WaitKind, waking: Mapping[str, Any]) -> bool:
    """Wake one run that waits for `kind`; its module receives `waking` (see `Module.woken`).

    Returns False if the run does not wait for `kind`, or no longer does. Raises PayloadError if the
    payload cannot be stored.
    """
    with transaction.atomic():
        execution = Run.objects.filter(pk=run_id).values_list("execution_id", flat=True).first()
        return execution is not None and bool(wake_all([(run_id, execution)], [kind], waking))


def wake_all(
    found: Sequence[tuple[UUID, UUID]],
    kinds: Sequence[str],
    waking: Mapping[str, Any],
    key: int | None = UNKNOWN,
) -> int:
    """Wake (run, execution) pairs that wait for one of `kinds`; return the number of woken runs.

    The function works like `wake_each`, for callers that need only the number.
    """
    return len(wake_each(found, kinds, waking, key))


def wake_each(
    found: Sequence[tuple[UUID, UUID]],
    kinds: Sequence[str],
    waking: Mapping[str, Any],
    key: int | None = UNKNOWN,
) -> set[UUID]:
    """Wake (run, execution) pairs that wait for one of `kinds`; return the IDs of the woken runs.

    `key` seals the payloads of all the runs; with None, nothing is sealed. By default, the key is
    read for each execution. The woken executions are recorded as users of the stored values in
    `waking`. Call this function in a transaction that holds no run's lock, because executions are
    locked before their runs.
    """
    if not found:
        return set()
    text = payloads.dump(dict(waking), "what wakes the step")
    capacity.request_slot({execution for _, execution in found})
    rows = statements.fetch(
        "wake",
        {
            "executions": [execution for _, execution in found],
            "runs": [run for run, _ in found],
            "kinds": [str(kind) for kind in kinds],
            "wake": text,
            "sealed": _sealed(found, text, waking, key),
            "patience": config().patience,
        },
    )
    # The others are sent when their paused execution resumes, or when their execution gets a slot.
    resend(row[:-2] for row in rows if row[-2])
    woken = {row[-1] for row in rows}
    if payload_store.enabled() and payloads.STORED in text:
        writing.keep_all({execution for run, execution in found if run in woken}, dict(waking))
    return woken


def _sealed(
    found: Sequence[tuple[UUID, UUID]], text: str, waking: Mapping[str, Any], key: int | None
) -> list[str | None] | None:
    """Return the wake-up data of each run, sealed for the run; None if nothing must be sealed.

    Uses one query if the wake-up data contains a payload and the key is not known.
    """
    if key is None or not PRIVATE & waking.keys():
        return None
    executions = {execution for _, execution in found}
    if key == UNKNOWN:
        keys = payload_keys.of_executions(executions)
    else:
        keys = dict.fromkeys(executions, key)
    if not keys:
        return None
    return [
        seal_facts(text, place(execution, "wake", str(run)), keys.get(execution))
        for run, execution in found
    ]
