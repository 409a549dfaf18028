"""The hash chain over the audit trail detects changes of sealed rows."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from executions.access.actor import Actor, record
from executions.audit import seals, verifying
from executions.audit.chain import BEGINNING, EPOCH, ChainHead, ChainLink, joined, leaf
from executions.audit.verifying import verify
from executions.database import statements
from executions.database.clock import database_now
from executions.models import Activity, AuditSeal
from executions.tasks import seal_audit
from runners.recovery.after_restore import settle
from tests.support.rivals import Rivals

pytestmark = pytest.mark.django_db(transaction=True)


def note(number: int = 1, **values: Any) -> list[UUID]:
    """Add rows, each in its own transaction; return their ids."""
    kept: dict[str, Any] = {"workspace_id": None, "object_type": "Thing", "object_id": "1"}
    return [record(Actor(1, "ada"), "thing.change", **kept | values) for _ in range(number)]


@contextmanager
def owner() -> Iterator[Any]:
    """Act as the tables' owner, who can do what the triggers reject."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield cursor


def seal() -> ChainHead:
    made = seals.seal()
    assert made.head is not None
    return made.head


def problem(*heads: ChainHead, **options: Any) -> str:
    """Verify the chain and return its only problem."""
    [found] = verify(heads, **options).problems
    return found


@pytest.mark.parametrize("table", ["executions_activity", "executions_auditseal"])
@pytest.mark.parametrize(
    "change", ["UPDATE {} SET {} = {}", "DELETE FROM {}", "TRUNCATE {}", "TRUNCATE {} CASCADE"]
)
def test_the_database_refuses_to_change_or_empty_the_trail_and_its_seals(
    table: str, change: str
) -> None:
    note()
    seal()
    column = "reason" if table.endswith("activity") else "number"
    statement = change.format(table, column, column)

    with pytest.raises(DatabaseError, match="append-only"), connection.cursor() as cursor:
        cursor.execute(statement)

    assert (Activity.objects.count(), AuditSeal.objects.count()) == (1, 1)


def test_every_row_gets_a_seal_and_all_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seals, "ROWS", 4)
    monkeypatch.setattr(verifying, "ROWS", 3)
    monkeypatch.setattr(verifying, "LINKS", 2)
    note(10, before={"a": [1, 2.5, None, "ü\u2028"]}, after={}, reason="why")

    first = seals.seal()
    note(3)
    second = seals.seal()

    assert (first.links, first.rows, second.links, second.rows) == (3, 10, 1, 3)
    report = verify([head for head in (first.head, second.head) if head])
    assert (report.problems, report.rows, report.links, report.waiting) == ([], 13, 4, 0)
    assert report.head == second.head == seals.head()


def test_nothing_new_makes_no_seal() -> None:
    assert seals.seal() == seals.SealingResult(0, 0, None)
    note()
    assert seal_audit() == 1
    assert seal_audit() == 0
    assert AuditSeal.objects.count() == 1


def test_rows_of_open_transactions_are_sealed_once_they_are_over(rivals: Rivals) -> None:
    with transaction.atomic():
        [late] = note()
        [early] = rivals.begin(note).result(60)
        waiting = rivals.begin(seals.seal).result(60)

    assert waiting.rows == 0
    assert seals.seal().rows == 2
    assert set(Activity.objects.values_list("pk", flat=True)) == {early, late}
    assert verify().problems == []


def test_writers_do_not_wait_for_sealing(rivals: Rivals) -> None:
    note()
    with transaction.atomic():
        assert seals.seal().rows == 1
        rivals.begin(note, 3).result(60)
        # And of two sealers the second does nothing.
        assert rivals.begin(seals.seal).result(60).rows == 0

    assert seals.seal().rows == 3


@pytest.fixture
def rivals() -> Iterator[Rivals]:
    with Rivals() as made:
        yield made


@pytest.mark.parametrize(
    "change",
    [
        "actor_name = 'eve'",
        "actor_id = 2",
        "address = '10.0.0.1'",
        "reason = 'another'",
        "details = '{}'",
        "before = 'null'",
        "after = '{\"a\": 2}'",
        "created_at = created_at + interval '1 microsecond'",
        "workspace_id = NULL, object_id = '2'",
        "transaction = transaction - 1",
    ],
)
def test_a_changed_row_is_named(change: str) -> None:
    note(2)
    [row] = note(details={"a": 1}, after={"a": 1}, before={"a": 0})
    seal()
    note()
    seal()

    with owner() as cursor:
        cursor.execute(f"UPDATE executions_activity SET {change} WHERE id = %s", [row])

    found = problem()
    assert f"Row {row} " in found
    assert found.endswith("was changed after seal 1.")


def test_a_deleted_row_is_named() -> None:
    rows = note(3)
    seal()
    with owner() as cursor:
        cursor.execute("DELETE FROM executions_activity WHERE id = %s", [rows[1]])

    assert problem() == f"Row {rows[1]}, which seal 1 covers, is missing."


def test_a_row_put_in_among_old_ones_is_named_whether_it_gets_a_seal_or_not() -> None:
    note(2)
    seal()
    long_ago = "created_at = created_at - interval '2 hours'"
    [hidden], [shown] = note(), note()
    with owner() as cursor:
        cursor.execute(
            f"UPDATE executions_activity SET {long_ago}, transaction = 3 WHERE id = %s", [hidden]
        )
        cursor.execute(f"UPDATE executions_activity SET {long_ago} WHERE id = %s", [shown])
    seal()

    found = verify().problems

    assert len(found) == 2
    assert f"Row {shown} has the time" in found[0]
    assert f"Row {hidden} of" in found[1]
    assert "has no seal" in found[1]


@pytest.mark.parametrize(
    "change",
    ["leaves = 'x'::bytea", "count = 7", "sealed_at = sealed_at + interval '1 us'", "since = now()",
     "last_transaction = 1", "digest = previous"],
)  # fmt: skip
def test_a_changed_seal_is_named(change: str) -> None:
    note(2)
    seal()
    note(2)
    seal()
    with owner() as cursor:
        cursor.execute(f"UPDATE executions_auditseal SET {change} WHERE number = 1")

    assert verify().problems[0].startswith("Seal 1 was changed")


def test_a_removed_seal_is_named() -> None:
    for _ in range(3):
        note()
        seal()
    with owner() as cursor:
        cursor.execute("DELETE FROM executions_auditseal WHERE number = 2")

    assert verify().problems[0] == "Seal 2 is missing: seal 3 comes next."


def test_an_end_cut_off_is_found_by_an_exported_head_alone() -> None:
    note()
    kept = seal()
    newest = note()
    exported = seal()
    with owner() as cursor:
        cursor.execute("DELETE FROM executions_auditseal WHERE number = 2")
        cursor.execute("DELETE FROM executions_activity WHERE id = %s", newest)

    assert verify([kept]).problems == []
    assert problem(exported) == ("The end is missing: seal 2 was exported, but the newest is 1.")


def test_a_chain_computed_anew_is_found_by_an_exported_head_alone() -> None:
    rows = note(3)
    exported = seal()
    with owner() as cursor:
        cursor.execute("UPDATE executions_activity SET actor_name = 'eve' WHERE id = %s", [rows[0]])
        cursor.execute("DELETE FROM executions_auditseal")
    seal()

    assert verify().problems == []
    assert problem(exported).startswith("Seal 1 is not the exported one")


def test_emptied_tables_are_found_by_an_exported_head() -> None:
    note()
    exported = seal()
    with owner() as cursor:
        cursor.execute("TRUNCATE executions_activity, executions_auditseal")

    assert problem(exported) == "The end is missing: seal 1 was exported, but there is none."


def test_rows_that_were_archived_may_be_gone_and_no_others() -> None:
    old = note(2)
    archived = seal()
    new = note(2)
    seal()
    with owner() as cursor:
        cursor.execute("DELETE FROM executions_activity WHERE id = ANY(%s)", [[*old, new[0]]])

    assert problem(archived=archived.number) == f"Row {new[0]}, which seal 2 covers, is missing."


def test_ids_made_by_a_clock_that_is_wrong_make_no_difference() -> None:
    ahead, behind = UUID(int=2**127), UUID(int=1)
    for made in (ahead, behind, uuid4()):
        [row] = note()
        with owner() as cursor:
            cursor.execute("UPDATE executions_activity SET id = %s WHERE id = %s", [made, row])
        seal()

    assert verify().problems == []


def test_after_a_restore_into_a_server_that_counts_anew_sealing_goes_on() -> None:
    note(2)
    _count_up(1_000_000)
    before = _sealed_by_a_server_ahead()
    note()
    _count_up(3_000_000)
    note(2)

    again = seals.seal()
    note(3)
    later = seals.seal()

    # The one that the other server left unsealed, and two of this one.
    assert (again.links, again.rows) == (1, 3)
    assert later.rows == 3
    report = verify([before])
    assert (report.problems, report.rows) == ([], 8)


def test_after_restore_seals_what_is_unsealed_and_the_line_that_tells_of_it() -> None:
    note()
    seal()
    note()

    settle(Actor.of_command(), force=True)

    report = verify()
    assert (report.problems, report.rows, report.waiting) == ([], 3, 0)
    note()
    assert seals.seal().rows == 1


def _count_up(by: int) -> None:
    """Raise the transaction numbers of the newest rows, as if a server with higher numbers had
    written them.
    """
    with owner() as cursor:
        cursor.execute(
            "UPDATE executions_activity SET transaction = transaction + %s "
            "WHERE transaction < 1000000",
            [by],
        )


def _sealed_by_a_server_ahead() -> ChainHead:
    """Add a link over the existing rows, up to the transaction that the other server had reached;
    return its head.
    """
    known = {"after": UUID(int=0), "until": verifying.LAST_ID, "most": 100}
    rows = statements.fetch("content_of_activity", known)
    last = Activity.objects.latest("pk")
    link = ChainLink(
        number=1,
        previous=BEGINNING,
        sealed_at=database_now(),
        since=EPOCH,
        last_transaction=last.transaction,
        last_row=last.pk,
        leaves=joined([(pk, leaf(content)) for pk, _, content in rows]),
    )
    parts = {name: getattr(link, name) for name in ChainLink.__slots__}
    AuditSeal.objects.create(count=link.count, digest=link.digest(), **parts)
    return ChainHead(1, link.digest())


def test_the_commands_tell_the_head_and_whether_all_fits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match="No row of the audit trail is sealed yet"):
        call_command("audit_head")
    call_command("verify_audit", stdout=out)
    [row] = note()
    with caplog.at_level(logging.INFO, "valkyr.audit"):
        exported = str(seal())
    began = database_now() - timedelta(minutes=1)

    call_command("audit_head", stdout=out)
    call_command("audit_head", "--at", began.isoformat(), stdout=out)
    call_command("verify_audit", "--head", exported, stdout=out)

    assert f"audit head {exported}" in caplog.messages
    assert out.getvalue().splitlines() == [
        "No row is sealed yet; 0 rows wait for a seal.",
        exported,
        exported,
        (
            f"The audit trail matches its seals: 1 rows in 1 seals, up to {exported}; 0 rows wait "
            "for the next seal."
        ),
    ]
    with owner() as cursor:
        cursor.execute("DELETE FROM executions_activity WHERE id = %s", [row])
    with pytest.raises(CommandError, match=f"Row {row}, which seal 1 covers, is missing"):
        call_command("verify_audit", "--head", exported, stdout=out)


@pytest.mark.parametrize(
    "head", ["", "x", "0:" + "a" * 64, "1:ab", "-1:" + "a" * 64, "1:" + "g" * 64]
)
def test_a_head_that_is_none_is_refused(head: str) -> None:
    with pytest.raises(CommandError, match="is not a head of the audit trail"):
        call_command("verify_audit", f"--head={head}")


@pytest.mark.parametrize("at", ["yesterday", "2026-13-01T00:00:00Z", "3026-01-01T00:00:00Z"])
def test_a_time_that_is_none_or_has_no_seal_is_refused(at: str) -> None:
    with pytest.raises(CommandError, match=r"expected a time|No seal was made"):
        call_command("audit_head", "--at", at)


def test_sealing_reads_new_rows_by_their_transactions_however_long_the_trail_is() -> None:
    note()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO executions_activity (id, actor_name, via, action, object_type, object_id, "
            "reason, details) SELECT gen_random_uuid(), 'ada', '', 'x.y', 'Thing', '1', '', '{}' "
            "FROM generate_series(1, 5000)"
        )
        cursor.execute("ANALYZE executions_activity")
        cursor.execute(
            "EXPLAIN " + statements.statement("rows_to_seal"),
            {"transaction": 1, "row": UUID(int=0), "since": EPOCH, "most": 1000},
        )
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "activity_transaction" in plan
    assert "Seq Scan" not in plan


def test_verifying_stops_when_too_much_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "MOST_PROBLEMS", 3)
    note(5)
    seal()
    with owner() as cursor:
        cursor.execute("DELETE FROM executions_activity")

    report = verify()

    assert (len(report.problems), report.stopped) == (3, True)
