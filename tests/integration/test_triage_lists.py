"""The lists of triage: pages by keyset, filters in the URL, inputs by path, saved views."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dlq.admin import keyset
from dlq.browse import bounded_list
from dlq.models import DeadLetterEntry, SavedView
from executions.models import Activity, Membership, Workflow
from tests.support import admin_rows as rows

pytestmark = pytest.mark.django_db
LETTERS = "/admin/dlq/deadletterentry/"


@pytest.fixture(autouse=True)
def _fresh_cache(static_files: None) -> None:
    cache.clear()


@pytest.fixture
def op(client: Client, django_user_model: Any) -> Client:
    user = django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
    client.force_login(user)
    return client


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def letter(workflow: Workflow) -> Callable[..., DeadLetterEntry]:
    """Return a function that creates a dead letter with these inputs and columns."""
    made = rows.execution(workflow, "FAILED", error_message="it failed")

    def make(inputs: Any = None, **columns: Any) -> DeadLetterEntry:
        number = DeadLetterEntry.objects.count()
        entry = rows.dead_letter(rows.run(made, f"step{number}.main", inputs=inputs or {}))
        if columns:
            DeadLetterEntry.objects.filter(pk=entry.pk).update(**columns)
        return entry

    return make


def _list(client: Client, **query: Any) -> Any:
    answer = client.get(f"{LETTERS}?{urlencode(query, doseq=True)}", follow=True)
    assert answer.status_code == 200, query
    return answer.context["cl"]


def _ids(client: Client, **query: Any) -> set[Any]:
    return {row.pk for row in _list(client, **query).result_list}


def _walk(client: Client, address: str, attribute: str) -> Iterator[list[Any]]:
    while address:
        shown = client.get(LETTERS + address).context["cl"]
        yield [row.pk for row in shown.result_list]
        address = getattr(shown, attribute)


def test_pages_forwards_and_backwards_show_every_row_once(
    op: Client, letter: Callable[..., DeadLetterEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlq.admin.entry.DeadLetterEntryAdmin.list_per_page", 3)
    made = [letter().pk for _ in range(8)]

    forwards = list(_walk(op, "?resolution=all", "next_page"))
    assert [len(page) for page in forwards] == [3, 3, 2]
    assert [pk for page in forwards for pk in page] == made[::-1]

    shown = op.get(f"{LETTERS}?resolution=all").context["cl"]
    while shown.next_page:
        shown = op.get(LETTERS + shown.next_page).context["cl"]
    back = list(_walk(op, shown.previous_page, "previous_page"))
    assert back == [forwards[1], forwards[0]]


def test_rows_that_arrive_do_not_move_the_next_page(
    op: Client, letter: Callable[..., DeadLetterEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlq.admin.entry.DeadLetterEntryAdmin.list_per_page", 2)
    made = [letter().pk for _ in range(4)]
    first = op.get(LETTERS).context["cl"]
    letter()

    second = op.get(LETTERS + first.next_page).context["cl"]

    assert [row.pk for row in second.result_list] == [made[1], made[0]]


@pytest.mark.parametrize("cursor", ["nonsense", "W10", "WyJpZCJd", "WyJpZCIsIDFd", "bnVsbA", "ÿ"])
def test_a_cursor_that_is_none_shows_the_first_page(
    op: Client, letter: Callable[..., DeadLetterEntry], cursor: str
) -> None:
    made = letter()

    assert _ids(op, next=cursor) == {made.pk} == _ids(op, previous=cursor)


def test_a_count_says_where_it_stopped(
    op: Client, letter: Callable[..., DeadLetterEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyset, "PAGED", 4)
    monkeypatch.setattr("executions.admin.changelist.PAGED", 4)
    monkeypatch.setattr("dlq.admin.entry.DeadLetterEntryAdmin.list_per_page", 2)
    for _ in range(6):
        letter()

    assert b"4+ dead letters" in op.get(LETTERS).content
    assert b"Select all 4+ that match" in op.get(LETTERS).content


def test_tabs_show_how_many_dead_letters_are_behind_them(
    op: Client, letter: Callable[..., DeadLetterEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlq.admin.entry_filters.PAGED", 4)
    for resolution in ("PENDING", "PENDING", "REQUEUED", "SKIPPED"):
        ended = None if resolution == "PENDING" else timezone.now()
        letter(resolution=resolution, resolved_at=ended)
    letter(exception="Odd")

    tabs = _list(op).tabs
    narrowed = _list(op, exception="Odd", resolution="fixed").tabs

    assert [tab["count"] for tab in tabs] == [3, 1, 0, 1, 0, "4+"]
    assert [tab["count"] for tab in narrowed] == [1, 0, 0, 0, 0, 1]


def test_all_tabs_are_counted_under_one_time_limit(
    op: Client, letter: Callable[..., DeadLetterEntry]
) -> None:
    letter()

    with CaptureQueriesContext(connection) as queries:
        _list(op)

    # One for the ids of the page, one for its count, one for the tabs.
    limits = [one for one in queries.captured_queries if "statement_timeout" in one["sql"]]
    assert len(limits) <= 3


def test_dead_letters_that_take_too_long_to_count_have_tabs_without_counts(
    op: Client, letter: Callable[..., DeadLetterEntry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_list, "counts", lambda *_: {})
    letter()

    answer = op.get(LETTERS)

    assert {tab["count"] for tab in answer.context["cl"].tabs} == {None}
    assert b"vk-tab-count" not in answer.content


@pytest.mark.parametrize(
    ("query", "column", "value"),
    [
        ({"exception": "Odd"}, "exception", "Odd"),
        ({"module": "sql.query"}, "module", "sql.query"),
        ({"step": "other.main"}, "step_path", "other.main"),
        ({"status": "503"}, "http_status", 503),
        ({"target": "shop.test"}, "target", "shop.test"),
        ({"worker": "io@box-9"}, "worker", "io@box-9"),
        ({"version": "7"}, "version_number", 7),
        ({"attempts": "5"}, "attempts", 6),
        ({"redriven": "yes"}, "redrives", 2),
        ({"pinned": "yes"}, "pinned", True),
        ({"seen": "yes"}, "seen_at", timezone.now()),
        ({"kind": "MANUAL"}, "failure_type", "MANUAL"),
        ({"text": "DISK is"}, "failure_reason", "the disk is full"),
        ({"q": "disk"}, "failure_reason", "the disk is full"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_filter_leaves_what_it_asks_for(
    op: Client,
    letter: Callable[..., DeadLetterEntry],
    query: dict[str, str],
    column: str,
    value: Any,
) -> None:
    letter()
    wanted = letter(**{column: value})

    assert _ids(op, **query) == {wanted.pk}


def test_times_and_groups_narrow_the_list(
    op: Client, letter: Callable[..., DeadLetterEntry]
) -> None:
    one, other = letter(), letter()
    now = timezone.now()
    soon, past = now + timedelta(hours=1), now - timedelta(hours=1)

    assert _ids(op, after=f"{past:%Y-%m-%dT%H:%M}") == {one.pk, other.pk}
    assert _ids(op, after=f"{soon:%Y-%m-%dT%H:%M}") == set()
    assert _ids(op, before=f"{past:%Y-%m-%dT%H:%M}") == set()
    assert _ids(op, since="1h", group=str(one.group_id)) == {one.pk, other.pk}
    assert _ids(op, group=f"{one.group_id},{one.pk}") == {one.pk, other.pk}
    assert _ids(op, group=str(one.pk)) == set()


INPUTS = {
    "order": {"country": "DE", "total": 12.5, "lines": [{"sku": "A1", "qty": 2}, {"sku": "B"}]},
    "tags": ["eu", "web"],
    "none": None,
    "odd.key": {"contains": {"isnull": "x"}},
}


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        (['order.country:eq:"DE"'], True),
        (['order.country:eq:"FR"'], False),
        (["order.total:eq:12.50"], True),
        (['tags:contains:"eu"'], True),
        (['tags:contains:["web","eu"]'], True),
        (['tags:contains:"e"'], False),
        (['tags:eq:["eu","web"]'], True),
        (['tags:eq:["eu"]'], False),
        (['order.lines[].sku:eq:"B"'], True),
        (['order.lines:contains:{"sku":"A1"}'], True),
        (['order.lines:contains:{"sku":"A1","qty":3}'], False),
        (["none:eq:null"], True),
        (["missing:eq:null"], False),
        (['order.country:eq:"DE"', 'tags:contains:"web"'], True),
        (['order.country:eq:"DE"', 'tags:contains:"shop"'], False),
        (['order:contains:{"country":"DE"}'], True),
        (['order:eq:{"country":"DE"}'], False),
    ],
    ids=str,
)
def test_inputs_are_looked_for_by_path(
    op: Client, letter: Callable[..., DeadLetterEntry], conditions: list[str], found: bool
) -> None:
    wanted = letter(INPUTS)
    letter({"order": {"country": "AT"}})

    assert _ids(op, inputs=conditions) == ({wanted.pk} if found else set())


def test_inputs_that_are_too_large_are_not_looked_for(
    op: Client, letter: Callable[..., DeadLetterEntry]
) -> None:
    letter(INPUTS, inputs_indexed=False)

    assert _ids(op, inputs='order.country:eq:"DE"') == set()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"inputs": "order.country"}, "is not a condition on inputs"),
        ({"inputs": "a:eq:DE"}, "is not valid JSON"),
        ({"inputs": ["a:eq:1"] * 6}, "Enter at most 5 conditions"),
        ({"inputs": 'a:eq:"\\u0000"'}, "NUL character"),
        ({"status": "teapot"}, "Enter a whole number"),
        ({"group": "x"}, "Enter IDs of failure groups"),
        ({"after": "yesterday"}, "Enter a valid date/time"),
        ({"kind": "ODD"}, "Select a valid choice"),
    ],
    ids=str,
)
def test_what_cannot_be_understood_is_said_and_matches_nothing(
    op: Client, letter: Callable[..., DeadLetterEntry], query: dict[str, Any], said: str
) -> None:
    letter(INPUTS)
    answer = op.get(f"{LETTERS}?{urlencode(query, doseq=True)}")

    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert answer.context["cl"].result_list == []


def test_the_form_about_inputs_becomes_part_of_the_address(op: Client) -> None:
    query = {"input_path": "order.country", "input_op": "eq", "input_value": "DE", "q": "x"}

    answer = op.get(f"{LETTERS}?{urlencode(query)}&inputs=a%3Aeq%3A1&module=")

    shown = op.get(answer["Location"], follow=True)
    assert shown.request["QUERY_STRING"] == urlencode(
        {"q": "x", "inputs": ["a:eq:1", 'order.country:eq:"DE"']}, doseq=True
    )
    wrong = op.get(f"{LETTERS}?input_path=a..b&input_op=eq&input_value=1")
    assert b"expected at most 12 names" in wrong.content


def test_who_may_not_see_payloads_cannot_ask_about_them(
    workflow: Workflow, letter: Callable[..., DeadLetterEntry], django_user_model: Any
) -> None:
    from django.contrib.auth.models import Permission

    from tests.support.sharing import assign_perm

    wanted = letter(INPUTS)
    user = django_user_model.objects.create(username="ada", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="executions"))
    user.user_permissions.remove(*Permission.objects.filter(codename="view_payloads"))
    Membership.objects.create(user=user, workspace=workflow.workspace, role="USER")
    assign_perm("read_workflow", user, workflow)
    ada = Client()
    ada.force_login(user)

    assert _ids(ada) == {wanted.pk}
    assert _ids(ada, inputs='order.country:eq:"DE"') == set()
    assert b"Path in the inputs" not in ada.get(LETTERS).content


def test_all_that_match_is_what_the_filter_on_inputs_matches(
    op: Client, letter: Callable[..., DeadLetterEntry]
) -> None:
    wanted = [letter(INPUTS).pk for _ in range(3)]
    other = letter({"order": {"country": "AT"}})
    asked = urlencode({"inputs": 'order.country:eq:"DE"'})
    form = {
        "action": "bulk_discard", "select_across": "1", "index": "0",
        "_selected_action": str(wanted[0]),
    }  # fmt: skip

    question = op.post(f"{LETTERS}?{asked}", form)
    assert b"3 dead letters" in question.content
    answer = {"confirmed": "yes", "_form_submitted": "on", "notes": "gone", "reason": "gone"}
    op.post(f"{LETTERS}?{asked}", form | answer)

    open_ones = DeadLetterEntry.objects.filter(resolution="PENDING")
    assert [entry.pk for entry in open_ones] == [other.pk]


def test_both_ways_of_looking_find_the_same(letter: Callable[..., DeadLetterEntry]) -> None:
    made = [letter(INPUTS).pk for _ in range(5)]
    letter({"order": {"country": "AT"}})
    asked = DeadLetterEntry.objects.filter(original_inputs__contains={"tags": ["eu"]})

    for order in ("-id", "id"):
        found = asked.order_by(order)
        walked = bounded_list.first(found, 3, 10).ids
        gathered = bounded_list._gather(found, 3, 10)
        assert walked == gathered.ids == sorted(made, reverse=order == "-id")[:3]
        assert gathered.count == 5


def test_patience_ends_what_takes_too_long_and_leaves_no_trace() -> None:
    def timeout() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return str(cursor.fetchone()[0])

    before = timeout()
    with bounded_list.patience(5_000):
        assert timeout() == "5s"
    assert timeout() == before
    with (
        pytest.raises(bounded_list.TooManyRows),
        bounded_list.patience(20),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT pg_sleep(20)")
    assert timeout() == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("moved", [False, True])
def test_a_list_that_cannot_be_read_in_time_says_so(
    op: Client, letter: Callable[..., DeadLetterEntry], monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    monkeypatch.setattr(bounded_list, "GATHER_MS", 150)
    monkeypatch.setattr("dlq.admin.entry.DeadLetterEntryAdmin.list_per_page", 1)
    letter()
    letter()
    address = LETTERS + (_list(op).next_page if moved else "")
    settings = connection.get_connection_params()
    wanted = {name: settings[name] for name in ("host", "port", "user", "password", "dbname")
              if settings.get(name)}  # fmt: skip
    with psycopg.connect(**wanted) as other:
        other.execute("LOCK TABLE dlq_deadletterentry IN ACCESS EXCLUSIVE MODE")
        answer = op.get(address)

    assert answer.status_code == 200
    assert b"Too many rows to search" in answer.content
    assert b"<span>an unknown number of dead letters</span>" in answer.content
    assert b"queue is empty" not in answer.content


def test_a_view_is_saved_chosen_and_deleted(op: Client) -> None:
    saved = op.post(f"{LETTERS}views/", {"name": " DE  503 ", "query": "status=503&next=abc&q="})
    assert saved["Location"] == f"{LETTERS}?status=503"
    kept = SavedView.objects.get()
    assert (kept.name, kept.query, kept.page) == ("DE 503", "status=503", "dlq_deadletterentry")

    shown = op.get(saved["Location"]).context["triage"]["views"]
    assert [(view.name, view.current) for view in shown] == [("DE 503", True)]
    op.post(f"{LETTERS}views/", {"name": "DE 503", "query": "status=504"})
    assert SavedView.objects.get().query == "status=504"

    assert op.get(f"{LETTERS}views/{kept.pk}/delete/").status_code == 405
    op.post(f"{LETTERS}views/{kept.pk}/delete/")
    assert not SavedView.objects.exists()
    done = Activity.objects.filter(object_type="SavedView").order_by("id")
    assert [row.action for row in done] == [
        "saved_view.save", "saved_view.save", "saved_view.delete",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\nb\x07", "a\x00b"])
def test_a_view_without_a_sound_name_is_not_saved(op: Client, name: str) -> None:
    op.post(f"{LETTERS}views/", {"name": name, "query": ""}, follow=True)

    assert not SavedView.objects.exists()


@pytest.mark.parametrize("query", ["q=a%00b", "q=a\x00b"])
def test_filters_with_a_nul_character_are_rejected(op: Client, query: str) -> None:
    answer = op.post(f"{LETTERS}views/", {"name": "odd", "query": query})

    assert answer.status_code == 400
    assert not SavedView.objects.exists()


def test_nobody_sees_or_deletes_the_view_of_another(
    op: Client, workflow: Workflow, django_user_model: Any
) -> None:
    ada = django_user_model.objects.create(username="ada", is_staff=True)
    kept = SavedView.objects.create(
        owner=ada, page="dlq_deadletterentry", name="mine", query="status=503"
    )

    assert op.get(LETTERS).context["triage"]["views"] == []
    assert op.post(f"{LETTERS}views/{kept.pk}/delete/").status_code == 404
    assert SavedView.objects.filter(pk=kept.pk).exists()
