"""Tokens are counted after a step spent them, in the transaction that records it."""

import json
from collections.abc import Sequence
from uuid import UUID

from executions.database import statements


def count_tokens(workspace_id: UUID, execution_id: UUID, used: Sequence[tuple[str, int]]) -> None:
    """Add tokens by model to the windows of the quotas on them; call it after locking the run."""
    if not used:
        return
    models = [{"model": model, "tokens": tokens} for model, tokens in used]
    statements.fetch(
        "count_tokens",
        {"workspace": workspace_id, "execution": execution_id, "used": json.dumps(models)},
    )
