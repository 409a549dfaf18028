"""Remote runners are listed like workers: who asks for work, for which queues, and when last."""

import json
from collections.abc import Sequence
from uuid import UUID

from uuid6 import uuid7

from valkyr_plugins.remote import statements

# A superuser may run for every workspace there is.
MOST_WORKSPACES = 100


def note(runner: str, workspaces: Sequence[UUID], queues: Sequence[str], host: str) -> None:
    """List a remote runner in the workspaces it works for, the first hundred, as seen now."""
    listed = list(workspaces[:MOST_WORKSPACES])
    statements.fetch(
        "runner",
        {
            "runner": runner,
            "host": host,
            "queues": json.dumps(sorted(queues)),
            "ids": [uuid7() for _ in listed],
            "workspaces": listed,
        },
    )
