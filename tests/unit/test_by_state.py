"""`in_states` knows which states are final without importing the app above it."""

from executions.database.by_state import ENDED
from executions.states import FINAL as FINAL_EXECUTIONS
from runners.states import FINAL as FINAL_RUNS


def test_what_has_ended_is_final_for_executions_or_runs() -> None:
    assert ENDED == FINAL_EXECUTIONS | FINAL_RUNS
