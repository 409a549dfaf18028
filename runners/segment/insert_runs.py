"""Runs to be are added to a locked execution, or to several."""

from collections.abc import Sequence
from uuid import UUID

from runners import statements
from runners.conf import config
from runners.segment.state import SegmentState


def insert(state: SegmentState, parts: list[str]) -> int:
    """Insert rows made by `rows` into the state's execution; returns how many were new."""
    return len(insert_all(owned(state, parts)))


def insert_all(texts: Sequence[str]) -> set[UUID]:
    """Insert rows that are `owned`, in one statement; the ids of those that were new."""
    if not texts:
        return set()
    rows_text = {"rows": f"[{','.join(texts)}]", "patience": config().patience}
    return {pk for (pk,) in statements.fetch("insert", rows_text)}


def owned(state: SegmentState, parts: Sequence[str]) -> list[str]:
    """Rows made by `rows`, said to belong to the state's execution."""
    owner = (
        f'{{"execution":"{state.context.execution_id}","epoch":{state.context.epoch},'
        f'"priority":{state.context.priority},'
    )
    return [owner + part[1:] for part in parts]
