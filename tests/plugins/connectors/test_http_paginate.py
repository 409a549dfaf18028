"""`http.paginate` reads pages until the last, a limit or a cycle, and resumes where it stopped."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.counterparts.http import PAGES, BadServer, bad_server
from tests.support.partner import Partner

Read = Callable[..., Any]
LINK = {"strategy": "link", "items": "items[].n"}
NEXT = {"strategy": "next", "next": "next", "items": "items[].n"}
CURSOR = {"strategy": "cursor", "next": "cursor", "parameter": "page", "items": "items[].n"}
PAGE = {"strategy": "page", "items": "items[].n"}


@pytest.fixture
def server(partner: Partner) -> Iterator[BadServer]:
    with bad_server() as server:
        yield server


@pytest.fixture
def read(step_context: Context) -> Read:
    def pages(url: str, *, ctx: Context = step_context, **config: Any) -> Any:
        result = registry.get("http.paginate").run({"url": url, **config}, ctx)
        assert isinstance(result, Result)
        return result.outputs

    return pages


@pytest.mark.parametrize("config", [LINK, NEXT, CURSOR, PAGE], ids=lambda c: c["strategy"])
def test_pages_are_turned_to_the_limit_and_on_from_there(
    server: BadServer, read: Read, config: dict[str, Any]
) -> None:
    first = read(f"{server.url}/pages", **config, maxPages=20)
    second = read(f"{server.url}/pages", **config, maxPages=5, start=first["next"])

    assert first["items"] == list(range(1, 21))
    assert (first["count"], first["pages"], first["truncated"]) == (20, 20, True)
    assert second["items"] == list(range(21, 26))


@pytest.mark.parametrize("config", [LINK, NEXT, CURSOR], ids=lambda c: c["strategy"])
def test_the_last_page_ends_it(server: BadServer, read: Read, config: dict[str, Any]) -> None:
    found = read(f"{server.url}/pages", **config, query={"page": PAGES - 1})

    assert found["items"] == [PAGES - 1, PAGES]
    assert (found["truncated"], found["next"]) == (False, None)


def test_outputs_have_the_keys_their_schema_announces(server: BadServer, read: Read) -> None:
    announced = registry.specs()["http.paginate"].outputs_schema

    assert announced is not None
    assert read(f"{server.url}/pages", **PAGE, maxPages=1).keys() == announced["properties"].keys()


def test_a_short_page_is_the_last_where_the_size_is_told(server: BadServer, read: Read) -> None:
    found = read(f"{server.url}/pages", **PAGE, pageSize=2)

    assert (found["items"], found["truncated"]) == ([1], False)


def test_an_expression_may_say_that_there_is_no_more(server: BadServer, read: Read) -> None:
    found = read(f"{server.url}/pages", **PAGE, more="items[0].n < `3`")

    assert (found["items"], found["truncated"]) == ([1, 2, 3], False)


def test_an_offset_counts_the_items(partner: Partner, read: Read) -> None:
    read(f"{partner.url}/echo", strategy="offset", items="query.offset", maxPages=3)

    assert [seen["query"]["offset"] for seen in partner.received] == [["0"], ["1"], ["2"]]


def test_a_limit_of_items_loses_none_of_a_page(server: BadServer, read: Read) -> None:
    found = read(f"{server.url}/pages", **LINK, maxItems=3)

    assert (found["items"], found["truncated"]) == ([1, 2, 3], True)


def test_pages_past_the_limit_of_bytes_are_left_for_later(server: BadServer, read: Read) -> None:
    found = read(f"{server.url}/pages", **PAGE, maxBytes=200)

    assert 0 < found["pages"] < 5
    assert found["next"] == found["pages"] + 1


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"maxPages": 3}, "more than 3 pages: raise maxPages"),
        ({"maxItems": 3}, "more than 3 items: raise maxItems"),
        ({"maxBytes": 200}, "more than 200 bytes together: raise maxBytes"),
    ],
)
def test_a_limit_may_fail_the_step(
    server: BadServer, read: Read, limit: dict[str, int], said: str
) -> None:
    with pytest.raises(StepError, match=said) as caught:
        read(f"{server.url}/pages", **LINK, **limit, atLimit="fail")

    assert caught.value.error_type is ErrorType.PERMANENT


def failed_at_page_3(server: BadServer, read: Read, ctx: Context) -> Any:
    """Fail at the third page of a read; return the details that the attempt stored."""
    told: list[Any] = []
    ctx.mind(cancelled=lambda: False, details=told.append)
    server.cut_once.add("/pages?page=3")
    with pytest.raises(StepError, match=r"page 3: GET .* RemoteProtocolError") as caught:
        read(f"{server.url}/pages", ctx=ctx, **CURSOR, maxPages=5)
    assert caught.value.error_type is ErrorType.TRANSIENT
    server.requests.clear()
    return told[-1]


def test_a_retry_goes_on_at_the_page_that_failed(
    server: BadServer, read: Read, step_context: Context
) -> None:
    step_context.last_details = failed_at_page_3(server, read, step_context)

    found = read(f"{server.url}/pages", **CURSOR, maxPages=5)

    assert found["items"] == [1, 2, 3, 4, 5]
    assert server.requests == [f"/pages?page={n}" for n in (3, 4, 5)]


@pytest.mark.parametrize("change", [{"next": "9"}, {"items": []}, {"seal": "x"}])
def test_a_bookmark_that_was_changed_is_none(
    server: BadServer, read: Read, step_context: Context, change: dict[str, Any]
) -> None:
    step_context.last_details = failed_at_page_3(server, read, step_context) | change

    found = read(f"{server.url}/pages", **CURSOR, maxPages=5)

    assert found["items"] == [1, 2, 3, 4, 5]
    assert len(server.requests) == 5


def test_what_is_too_much_for_a_bookmark_leaves_the_one_before(
    server: BadServer, read: Read, step_context: Context
) -> None:
    told: list[Any] = []
    step_context.mind(cancelled=lambda: False, details=told.append)

    read(f"{server.url}/pages", **PAGE, maxPages=2)
    wide = f"[{', '.join(['@'] * 1000)}]"
    found = read(f"{server.url}/pages", strategy="page", items=wide, maxPages=2)

    assert found["count"] == 2000
    assert [details["pages"] for details in told] == [1, 2]


def test_a_cancelled_execution_reads_no_further_page(
    server: BadServer, read: Read, step_context: Context
) -> None:
    step_context.mind(cancelled=lambda: len(server.requests) >= 2, details=lambda details: None)

    with pytest.raises(StepError, match="cancelled between two pages"):
        read(f"{server.url}/pages", **LINK)

    assert len(server.requests) == 2


def test_another_origins_page_sees_no_credential(
    partner: Partner, read: Read, step_context: Context
) -> None:
    step_context.reveal({"token": "t0ken-value"}, Scrubber({}))
    other = Partner()
    try:
        found = read(
            f"{partner.url}/echo",
            query={"next": f"{other.url}/echo"},
            headers={"X-Api-Key": "key", "User-Agent": "shop"},
            strategy="next",
            next="query.next[0]",
            items="[headers]",
        )
    finally:
        other.stop()

    mine, theirs = found["items"]
    assert (mine["authorization"], mine["x-api-key"]) == ("Bearer t0ken-value", "key")
    assert {"authorization", "x-api-key"}.isdisjoint(theirs)
    assert theirs["user-agent"] == "shop"


@pytest.mark.parametrize("secrets", [True, False], ids=["secrets", "none"])
def test_a_body_that_may_hold_secrets_goes_to_no_other_origins_page(
    partner: Partner, read: Read, step_context: Context, secrets: bool
) -> None:
    if secrets:
        step_context.reveal(None, Scrubber({}))
    other = Partner()
    asked = {
        "method": "POST",
        "json": {"key": "s3cret"},
        "strategy": "next",
        "next": "query.next[0]",
        "items": "[body]",
    }
    try:
        same = read(f"{partner.url}/echo", query={"next": f"{partner.url}/echo?last=1"}, **asked)
        if secrets:
            with pytest.raises(StepError, match="its body is not sent to another origin") as caught:
                read(f"{partner.url}/echo", query={"next": f"{other.url}/echo"}, **asked)
            with pytest.raises(StepError, match="its body is not sent to another origin"):
                read(f"{partner.url}/echo", start=f"{other.url}/echo", **asked)
            assert f"page 2: strategy next leads to {other.url}, " in caught.value.message
        else:
            read(f"{partner.url}/echo", query={"next": f"{other.url}/echo"}, **asked)
    finally:
        other.stop()

    assert same["items"] == ['{"key": "s3cret"}'] * 2
    assert len(other.received) == (0 if secrets else 1)


def test_a_cursor_may_go_into_the_body_and_no_page_carries_the_key(
    partner: Partner, read: Read
) -> None:
    read(
        f"{partner.url}/echo",
        method="POST",
        json={"query": "q", "variables": {"first": 2}},
        strategy="cursor",
        next="nothing",
        parameter="variables.after",
        parameterIn="body",
        start="c1",
        items="[@]",
    )

    (seen,) = partner.received
    assert seen["body"] == '{"query": "q", "variables": {"first": 2, "after": "c1"}}'
    assert "idempotency-key" not in seen["headers"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"strategy": "next"}, "needs next"),
        ({"strategy": "page", "start": "x"}, "must be a whole number"),
        ({"strategy": "link", "json": {}}, "json needs method POST"),
        ({"strategy": "page", "parameterIn": "body"}, "parameterIn body needs json"),
        ({"strategy": "link", "items": "["}, "not a JMESPath expression"),
    ],
)
def test_what_does_not_fit_together_is_told_when_publishing(
    config: dict[str, Any], said: str
) -> None:
    (problem,) = registry.specs()["http.paginate"].check({"url": "http://a.example/", **config})

    assert said in problem.message


TWICE = "|".join(["[@,@]"] * 24)
MANY = "|".join(["[@,@][]"] * 24)


@pytest.mark.parametrize(
    "config",
    [
        {"items": MANY},
        {"items": TWICE},
        {"items": f"[length(to_string({TWICE}))]"},
        {"items": "items", "more": f"({TWICE}) == ({TWICE})"},
        {"items": "items", "more": f"contains([{TWICE}], {TWICE})"},
    ],
)
def test_no_expression_makes_more_than_a_step_may_give(
    server: BadServer, read: Read, config: dict[str, Any]
) -> None:
    began = time.process_time()

    with pytest.raises(StepError, match="has more than"):
        read(f"{server.url}/pages", strategy="page", maxPages=2, **config)

    assert time.process_time() - began < 3
