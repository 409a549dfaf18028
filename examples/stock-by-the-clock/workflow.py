from typing import Any

from valkyr import execution, modules, workflow


@workflow(
    schedule={
        "schedule": "* * * * *",
        "timezone": "Europe/Berlin",  # 2:30 stays 2:30 on both sides of a clock change
        "overlap": "queue",  # skip | queue | cancelPrevious | allow
        "catchUp": "latest",  # none | latest | all, at most catchUpLimit
        "jitterSeconds": 1,  # spread the starts
        "startAt": "2026-01-01T00:00:00+01:00",
        "endAt": "2099-12-31T23:59:59+01:00",
    }
)
def stock_by_the_clock() -> Any:
    """Count the stock each minute; a real one would say "30 2 * * *"."""
    count = modules.data.template(text=f"Counted at {execution.startedAt[:16]}")
    return count.text
