"""New executions whose concurrency key is taken: they wait, are rejected, or replace earlier ones.

Call `settle` in the starting transaction, after the workspace is locked and before anything is
written.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from executions import lifecycle
from executions.access.actor import Actor
from executions.admission import concurrency
from executions.admission.concurrency import ConcurrencyKey, ConcurrencyUse
from executions.database import statements
from executions.definition.graph.model import Concurrency
from executions.errors import ConcurrencyConflict, WrongState

MAX_CANCELLED = 1_000
ACTOR = Actor.system("concurrency")


@dataclass(frozen=True, slots=True)
class ConflictVerdict:
    """Whether each new execution may run within its key's limit, or is replaced by a later one.

    Both lists are in the order of the executions. A replaced execution is inserted as a waiting
    execution, and then cancelled.
    """

    may_run: list[bool]
    replaced: list[bool]


def settle(rule: Concurrency | None, keys: Sequence[ConcurrencyKey | None]) -> ConflictVerdict:
    """Lock the keys and apply the rule; return which executions may run or are replaced.

    Earlier executions may be cancelled. Raises ConcurrencyConflict if the rule rejects one of the
    new executions, or would cancel more than 1,000.
    """
    wanted = Counter(key for key in keys if key is not None)
    replaced = [False] * len(keys)
    if rule is None or not wanted:
        return ConflictVerdict([True] * len(keys), replaced)
    concurrency.lock(wanted.keys())
    most = rule.limit + (MAX_CANCELLED if rule.on_conflict == "cancelPrevious" else 0)
    uses = concurrency.uses(wanted.keys(), waiting=most)
    if rule.on_conflict == "reject":
        _refuse(rule, wanted, uses)
    elif rule.on_conflict == "cancelPrevious":
        _replace(rule, wanted, uses)
        uses = concurrency.uses(wanted.keys(), waiting=1)
        replaced = _replaced(rule, keys)
    return ConflictVerdict(_may_run(rule, keys, uses, replaced), replaced)


def cancel_replaced(execution_ids: Sequence[UUID]) -> None:
    """Cancel executions that newer executions with the same key replace."""
    for execution_id in execution_ids:
        with suppress(WrongState):  # it ended in the meantime
            lifecycle.cancel(
                execution_id,
                actor=ACTOR,
                reason="A newer execution with the same concurrency key was started.",
            )


def _refuse(
    rule: Concurrency, wanted: Counter[ConcurrencyKey], uses: dict[ConcurrencyKey, ConcurrencyUse]
) -> None:
    for key, count in wanted.items():
        use = uses[key]
        if use.holders + use.waiting + count <= rule.limit:
            continue
        oldest = _oldest({key: 1})
        if not oldest:
            raise ConcurrencyConflict(
                f"{count} of these executions have the concurrency key {key.text!r}, and at most "
                f"{rule.limit} may run at once. Start them one after another."
            )
        raise ConcurrencyConflict(
            f"Execution {oldest[0]} holds the concurrency key {key.text!r}; at most "
            f"{rule.limit} may run at once. Try again after it has ended, or cancel it.",
            oldest[0],
        )


def _replace(
    rule: Concurrency, wanted: Counter[ConcurrencyKey], uses: dict[ConcurrencyKey, ConcurrencyUse]
) -> None:
    excess: dict[ConcurrencyKey, int] = {}
    for key, count in wanted.items():
        use = uses[key]
        taken = use.holders + use.waiting
        too_many = min(taken, taken + count - rule.limit)
        if too_many > 0:
            excess[key] = too_many
    total = sum(excess.values())
    if total > MAX_CANCELLED:
        raise ConcurrencyConflict(
            f"{total:,} earlier executions would be cancelled, more than {MAX_CANCELLED:,} at "
            "once. Cancel some of them first, or start fewer."
        )
    if excess:
        cancel_replaced(_oldest(excess))


def _replaced(rule: Concurrency, keys: Sequence[ConcurrencyKey | None]) -> list[bool]:
    """Return, for each execution of a batch, whether a later execution replaces it."""
    kept: Counter[ConcurrencyKey] = Counter()
    out = []
    for key in reversed(keys):
        if key is not None:
            kept[key] += 1
        out.append(key is not None and kept[key] > rule.limit)
    return out[::-1]


def _may_run(
    rule: Concurrency,
    keys: Sequence[ConcurrencyKey | None],
    uses: dict[ConcurrencyKey, ConcurrencyUse],
    replaced: list[bool],
) -> list[bool]:
    """Return, for each execution, whether the limit of its key allows it to run.

    While earlier executions wait for a key, no new execution with this key runs.
    """
    left = {
        key: 0 if use.waiting else max(0, rule.limit - use.holders) for key, use in uses.items()
    }
    out = []
    for key, gone in zip(keys, replaced, strict=True):
        free = not gone and (key is None or left[key] > 0)
        if free and key is not None:
            left[key] -= 1
        out.append(free)
    return out


def _oldest(counts: dict[ConcurrencyKey, int]) -> list[UUID]:
    rows = statements.fetch(
        "oldest_of_keys",
        {
            "workflow": next(iter(counts)).workflow_id,
            "keys": [key.text for key in counts],
            "counts": list(counts.values()),
        },
    )
    return [execution_id for (execution_id,) in rows]
