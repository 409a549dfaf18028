"""Runs to be are added to a locked execution, or to several."""

from collections.abc import Sequence
from uuid import UUID

from runners import statements
from runners.conf import config
from runners.segment.state import Journey


def insert(journey: Journey, parts: list[str]) -> int:
    """Insert rows made by `rows` into the journey's execution; returns how many were new."""
    return len(insert_all(owned(journey, parts)))


def insert_all(texts: Sequence[str]) -> set[UUID]:
    """Insert rows that are `owned`, in one statement; the ids of those that were new."""
    if not texts:
        return set()
    rows_text = {"rows": f"[{','.join(texts)}]", "patience": config().patience}
    return {pk for (pk,) in statements.fetch("insert", rows_text)}


def owned(journey: Journey, parts: Sequence[str]) -> list[str]:
    """Rows made by `rows`, said to belong to the journey's execution."""
    owner = (
        f'{{"execution":"{journey.execution_id}","epoch":{journey.epoch},'
        f'"priority":{journey.priority},'
    )
    return [owner + part[1:] for part in parts]
