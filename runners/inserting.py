"""Runs to be are added to a locked execution."""

from runners import statements
from runners.conf import config
from runners.journey import Journey


def insert(journey: Journey, parts: list[str]) -> int:
    """Insert rows made by `rows` into the journey's execution; returns how many were new."""
    if parts:
        owner = (
            f'"execution":"{journey.execution_id}","epoch":{journey.epoch},'
            f'"priority":{journey.priority},'
        )
        text = ",".join("{" + owner + part[1:] for part in parts)
        rows_text = {"rows": f"[{text}]", "patience": config().patience}
        return len(statements.fetch("insert", rows_text))
    return 0
