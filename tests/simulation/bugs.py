"""Guards of statements that can be left out, to see that the simulation notices."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from unittest.mock import patch

from executions.database import statements as of_executions
from executions.database.statements import Statements
from runners import statements

OWN, EXECUTIONS = statements._own, of_executions._own
RESULTS = tuple(
    file.stem
    for file in sorted(statements.FOLDER.glob("*.sql"))
    if "--+ fenced" in file.read_text()
)  # what records a result


class Bug(NamedTuple):
    """Statements without a guard."""

    names: tuple[str, ...]
    guard: str  # what is taken out of their text
    instead: str = ""
    folder: Statements = OWN


GUARDS = {
    "record-token": Bug(
        RESULTS,
        "AND r.lease_token = %(token)s AND r.leased_by = %(holder)s",
        "AND %(token)s::int IS NOT NULL AND %(holder)s::text IS NOT NULL",
    ),
    "claim-state": Bug(("claim",), "AND (state = 'RUNNING') IS TRUE AND place = 'HELD' FOR SHARE"),
    "lock-of-plans": Bug(("lock",), "FOR NO KEY UPDATE"),
    "renew-token": Bug(("renew",), "AND r.lease_token = held.token"),
    "children": Bug(("ended_children",), "WHERE r.state", "WHERE false AND r.state"),
    "keys": Bug(("lock_keys",), "pg_advisory_xact_lock(number)", "number", EXECUTIONS),
    "time-out": Bug(
        ("end_live",), "state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')", "state = 'PENDING'"
    ),
}


@contextmanager
def broken(name: str) -> Iterator[None]:
    """Within this block the statement goes without its guard; "" leaves all as it is."""
    if not name:
        yield
        return
    bug = GUARDS[name]
    usual = bug.folder.text
    for each in bug.names:
        assert bug.guard in usual(each), f"{each} has no {bug.guard!r}"

    def changed(one: str) -> str:
        text = usual(one)
        return text.replace(bug.guard, bug.instead) if one in bug.names else text

    with patch.object(bug.folder, "text", changed):
        yield
