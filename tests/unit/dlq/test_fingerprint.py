"""Messages that belong to the same failure: invented messages, and those of Valkyr's modules."""

from itertools import combinations
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlq.groups.fingerprint import LONGEST, fingerprint, normalise, place_of

WORKFLOW = UUID(int=1)
hexes = st.text("0123456789abcdef", min_size=8, max_size=40).map(lambda text: f"a1{text}")
ALIKE = {
    "numbers": (st.integers(0, 10**12).map(str), "order {} is late"),
    "amounts": (st.decimals(0, 9999, places=2).map(str), "refused: {} is too much"),
    "uuids": (st.uuids().map(str), "no such order {}"),
    "quotes": (
        st.text(
            st.characters(codec="utf-8", exclude_characters="'\\").filter(
                lambda character: len(f"a{character}a".splitlines()) == 1
            )
        ),
        "no customer '{}' here",
    ),
    "double quotes": (
        st.text("abc ()[]{}<>/0123456789,.:'", max_size=80), 'field "{}" is required',
    ),
    "paths": (
        st.lists(st.text("abcdefgh.-_019", min_size=1, max_size=12), min_size=2, max_size=8).map(
            lambda parts: "/" + "/".join(parts)
        ),
        "cannot read {} now",
    ),
    "addresses": (
        st.tuples(st.text("abcxyz", min_size=1), st.text("abc/?=&%019", max_size=60)).map(
            lambda parts: f"https://{parts[0]}.test/{parts[1]}x"
        ),
        "GET {} answered with nothing",
    ),
    "addresses of hosts": (
        st.ip_addresses(v=4).map(str) | st.ip_addresses(v=6).map(lambda ip: ip.exploded),
        "no route to {} from here",
    ),
    "e-mails": (
        st.tuples(st.text("abc.+_09", min_size=1, max_size=20), st.text("abc", min_size=1)).map(
            lambda parts: f"a{parts[0]}@{parts[1]}.example.org"
        ),
        "mailbox {} is full",
    ),
    "times": (
        st.datetimes().map(lambda at: at.replace(microsecond=0).isoformat().rjust(19, "0")),
        "nothing since {} came in",
    ),
    "clocks": (st.times().map(lambda at: at.strftime("%H:%M:%S")), "closed at {} today"),
    "hex": (hexes, "bad checksum {} found"),
    "tokens": (
        st.text("abcdefXYZ", min_size=10, max_size=30).map(lambda text: f"cus_{text}9"),
        "{} has no card",
    ),
}  # fmt: skip
# Pairs of the same failure, as our own modules and the libraries under them report it.
UNIQUE = "db.internal:5432/orders: UniqueViolation 23505: duplicate key value violates unique"
SAME = [
    (
        "GET http://partner.test/orders/17 answered 503 Service Unavailable: try later",
        "GET http://partner.test/orders/18?x=y answered 503 Service Unavailable: try later",
    ),
    (
        "http://10.0.0.7:8080/a: ConnectTimeout: timed out",
        "http://10.0.0.9:8080/b/c: ConnectTimeout: timed out",
    ),
    (
        f'{UNIQUE} constraint "orders_pkey" DETAIL: Key (id)=(17) already exists.',
        f'{UNIQUE} constraint "orders_pkey" DETAIL: Key (id)=(18) already exists.',
    ),
    (
        "gpt-4o at api.openai.com had not answered in full after 59.4 s: ask for less",
        "gpt-4o at api.openai.com had not answered in full after 118 s: ask for less",
    ),
    (
        "The child execution 01987c4e-0000-7000-8000-000000000001 of workflow 'pay' failed.",
        "The child execution 01987c4e-0000-7000-8000-00000000beef of workflow 'pay' failed.",
    ),
    ("no file /logs/2026-11-22/a.csv", "no file /logs/2026-11-23/b.csv"),
    ("'in/a.csv' is not UTF-8 text at byte 17", "'in/b.csv' is not UTF-8 text at byte 1048576"),
    ("KeyError: 'a'", "KeyError: 'b c'"),
    ("pod api-7f9c6d5b4-x2x9p is gone", "pod api-5d4c8b7f6-q8k2z is gone"),
    ("rows [1, 2, 3] are missing", "rows [7] are missing"),
    ("No charge: ch_3MmlLrLkdIwHu7ix0snN0B15", "No charge: ch_3NpqRsLkdIwHu7ix1abCD2EF"),
    ("line 3 of the file\nwith more below", "line 4 of the file\nand other things below"),
]
# Failures that a person must not find in one group.
APART = [
    "GET http://partner.test/orders answered 503 Service Unavailable",
    "GET http://partner.test/orders answered 401 Unauthorized",
    "GET http://partner.test/orders answered 404 Not Found",
    "POST http://partner.test/orders answered 503 Service Unavailable",
    "http://partner.test/orders: ConnectTimeout: timed out",
    "http://partner.test/orders: ReadTimeout: timed out",
    "mail server smtp.example.org:25: SMTPAuthenticationError: refused",
    "mail server smtp.example.org:25: SMTPServerDisconnected: connection closed",
    "the archive has 20 entries, more than 10 (maxEntries)",
    "the archive unpacks to more than 20 bytes (maxBytes)",
    "more than 10 redirects",
    "the customer's card isn't valid",
    "the customer's order isn't there",
    "HTTP status 500",
    "HTTP status 502",
    "KeyError: 'a'",
    "IndexError: list index out of range",
    "ValueError: invalid literal for int() with base 10: 'x'",
    "",
]


@pytest.mark.parametrize("kind", ALIKE)
def test_what_differs_from_one_failure_to_the_next_is_taken_out(kind: str) -> None:
    values, message = ALIKE[kind]

    @given(values, values)
    def alike(one: str, other: str) -> None:
        assert normalise(message.format(one)) == normalise(message.format(other))

    alike()


@pytest.mark.parametrize(("one", "other"), SAME)
def test_messages_of_one_failure_are_one(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


def test_messages_of_different_failures_stay_apart() -> None:
    same = [
        (one, other) for one, other in combinations(APART, 2) if normalise(one) == normalise(other)
    ]

    assert same == []


@given(st.text(max_size=3_000))
def test_whatever_a_message_holds_it_becomes_one_short_line(message: str) -> None:
    found = normalise(message)

    assert len(found) <= LONGEST
    assert found == " ".join(found.split())


@pytest.mark.parametrize(
    "message", ["/a" * 1_000, "'" * 2_000, "1:" * 1_000, "a1-" * 600, "x@" * 1_000, "://" * 600]
)
def test_a_hostile_message_costs_no_time(message: str) -> None:
    assert len(normalise(message)) <= LONGEST


def test_iterations_of_a_loop_are_one_place() -> None:
    assert place_of("refine[2].each[17].draft.main") == "refine[].each[].draft.main"
    assert fingerprint(WORKFLOW, "a[1].b.main", "E", "m") == fingerprint(
        WORKFLOW, "a[2].b.main", "E", "m"
    )


def test_workflow_step_class_and_message_tell_failures_apart() -> None:
    prints = {
        fingerprint(WORKFLOW, "a.main", "E", "m"),
        fingerprint(uuid4(), "a.main", "E", "m"),
        fingerprint(WORKFLOW, "b.main", "E", "m"),
        fingerprint(WORKFLOW, "a.main", "F", "m"),
        fingerprint(WORKFLOW, "a.main", "E", "n"),
        fingerprint(WORKFLOW, "a.main", "E", "m", own="m"),
    }

    assert len(prints) == 6
    assert all(len(one) == 64 for one in prints)


def test_the_name_a_module_gives_stands_in_place_of_the_message() -> None:
    named = fingerprint(WORKFLOW, "a.main", "E", "Card 1 was declined", own="card_declined")

    assert named == fingerprint(WORKFLOW, "a.main", "E", "No money left", own="card_declined")
    assert named != fingerprint(WORKFLOW, "a.main", "E", "Card 1 was declined", own="lost_card")
