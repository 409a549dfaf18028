"""Guards of statements that can be removed, to check that the simulation notices."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from runners import statements

RESULTS = tuple(
    file.stem
    for file in sorted(statements.FOLDER.glob("*.sql"))
    if "--+ fenced" in file.read_text()
)  # what records a result
# name: (statements, the removed text, its replacement)
GUARDS = {
    "record-token": (
        RESULTS,
        "AND r.lease_token = %(token)s AND r.leased_by = %(holder)s",
        "AND %(token)s::int IS NOT NULL AND %(holder)s::text IS NOT NULL",
    ),
    "claim-state": (("claim",), "AND (state = 'RUNNING') IS TRUE AND place = 'HELD' FOR SHARE", ""),
    "lock-of-plans": (("lock",), "FOR NO KEY UPDATE", ""),
}


@contextmanager
def broken(name: str) -> Iterator[None]:
    """Run the statement without its guard during this block; "" changes nothing."""
    if not name:
        yield
        return
    names, guard, instead = GUARDS[name]
    for each in names:
        assert guard in statements.statement(each), f"{each} has no {guard!r}"

    def changed(one: str) -> str:
        text = statements.statement(one)
        return text.replace(guard, instead) if one in names else text

    with patch.object(statements._own, "text", changed):
        yield
