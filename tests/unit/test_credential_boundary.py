"""The destinations of a credential, from its lists, and invalid entries of a list."""

from uuid import UUID

import pytest

from executions.credentials.boundary import (
    Boundary,
    host_pattern,
    module_pattern,
    problems_of,
    stored,
)
from executions.credentials.kinds import suggested_hosts, suggested_modules

ONE, OTHER = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize(
    ("pattern", "host", "port"),
    [
        ("api.example.com", "api.example.com", 443),
        ("api.example.com", "API.Example.COM.", 8443),
        ("api.example.com:8443", "api.example.com", 8443),
        ("api.example.com:8443", "api.example.com", None),
        ("*.example.com", "api.example.com", 443),
        ("*.example.com", "a.b.example.com", 443),
        ("bücher.example", "xn--bcher-kva.example", 443),
        ("xn--bcher-kva.example", "bücher.example", 443),
        ("127.0.0.1", "127.0.0.1", 80),
        ("10.0.0.0/8", "10.1.2.3", 80),
        ("10.0.0.0/8:5432", "10.1.2.3", 5432),
        ("10.0.0.0/8", "::ffff:10.1.2.3", 80),
        ("2001:db8::1", "2001:0db8::0001", 80),
        ("[2001:db8::1]:443", "[2001:db8::1]", 443),
        ("localhost", "localhost", 5432),
        ("*", "anything.at.all", 1),
    ],
)
def test_a_host_that_fits_is_allowed(pattern: str, host: str, port: int | None) -> None:
    assert Boundary((pattern,)).allows_host(host, port)


@pytest.mark.parametrize(
    ("pattern", "host", "port"),
    [
        ("api.example.com", "example.com", 443),
        ("api.example.com", "api.example.com.evil.test", 443),
        ("api.example.com", "xapi.example.com", 443),
        ("api.example.com", "api-example.com", 443),
        ("api.example.com:8443", "api.example.com", 443),
        ("*.example.com", "example.com", 443),
        ("*.example.com", "badexample.com", 443),
        ("*.example.com", ".example.com", 443),
        ("10.0.0.0/8", "11.1.2.3", 80),
        ("10.0.0.0/8:5432", "10.1.2.3", 5433),
        ("127.0.0.1", "2130706433", 80),
        ("127.0.0.1", "localhost", 80),
        ("example.com", "", 80),
        ("example.com", "a b", 80),
    ],
)
def test_a_host_that_does_not_fit_is_refused(pattern: str, host: str, port: int) -> None:
    assert not Boundary((pattern,)).allows_host(host, port)


def test_no_hosts_allow_none() -> None:
    assert not Boundary(()).allows_host("example.com", 443)


def test_an_entry_that_nobody_checked_allows_nothing() -> None:
    boundary = Boundary(("https://example.com/", "", "a b"))

    assert not boundary.allows_host("example.com", 443)
    assert not boundary.allows_host("", 443)


@pytest.mark.parametrize(
    "text",
    [
        "", "https://api.example.com", "api.example.com/path", "*.com", "*", "a.*.com", "a b",
        "a..b", "*example.com", "user@example.com", "example.com:0", "example.com:99999",
        "example.com:x", "[::1", "*.10.0.0.1", "10.0.0.0/99", "x" * 64 + ".com", "é" * 300,
    ],
)  # fmt: skip
def test_what_is_no_host_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match=r"write|host|covers"):
        host_pattern(text)


def test_modules_and_workflows_are_judged_by_name_and_id() -> None:
    boundary = Boundary(("*",), ("http.*", "stripe.refund"), (str(ONE),))

    assert boundary.allows_module("http.request")
    assert boundary.allows_module("stripe.refund")
    assert not boundary.allows_module("stripe.customer")
    assert not boundary.allows_module("https.request")
    assert not boundary.allows_module("http")
    assert not boundary.names_module("http.request")
    assert boundary.names_module("stripe.refund")
    assert boundary.allows_workflow(ONE)
    assert not boundary.allows_workflow(OTHER)
    assert Boundary(("*",)).allows_workflow(OTHER)


@pytest.mark.parametrize("text", ["", ".", "http.", ".*", "a.*.b", "http request", "*.*", "http*"])
def test_what_is_no_module_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a module"):
        module_pattern(text)


def test_every_problem_of_the_lists_is_told() -> None:
    given = {
        "hosts": ["api.example.com", "https://x/"],
        "modules": ["http.*", "no module"],
        "workflows": ["mine"],
    }

    assert {(one.path, one.code) for one in problems_of(given)} == {
        ("hosts[1]", "bad_entry"), ("modules[1]", "bad_entry"), ("workflows[0]", "bad_entry"),
    }  # fmt: skip
    assert [one.code for one in problems_of({"hosts": []})] == ["required"]
    assert [one.code for one in problems_of({"modules": []})] == ["count"]
    assert [one.code for one in problems_of({"hosts": ["a.b"] * 101})] == ["count"]
    assert [one.code for one in problems_of({"hosts": "api.example.com"})] == ["not_a_list"]


def test_lists_are_kept_in_one_writing() -> None:
    given = {"hosts": ["B.example.com", "a.example.com", "b.example.com "], "modules": ["a.b", "*"]}

    assert stored(given) == {"hosts": ["a.example.com", "b.example.com"], "modules": ["*"]}


@pytest.mark.parametrize(
    ("kind", "fields", "hosts"),
    [
        ("stripe", {"api_key": "sk_live_x"}, ("api.stripe.com",)),
        ("slack", {"webhook_url": "https://hooks.slack.com/services/T/B/x"}, ("hooks.slack.com",)),
        ("database", {"url": "postgresql://u:p@db.example.com:5432/shop"}, ("db.example.com",)),
        ("smtp", {"url": "smtps://u:p@mail.example.com"}, ("mail.example.com",)),
        ("broker", {"url": "amqp://u:p@[2001:db8::1]:5672/"}, ("2001:db8::1",)),
        ("s3", {"access_key": "a", "secret_key": "b"}, ("*.amazonaws.com",)),
        ("bearer", {"token": "sk-ant-abc"}, ("api.anthropic.com",)),
        ("bearer", {"token": "sk-proj-abc"}, ("api.openai.com",)),
        ("bearer", {"token": "something"}, ()),
        ("secret", {"value": "something"}, ()),
        ("database", {"url": "no url"}, ()),
        ("database", {"url": "http://[x"}, ()),
        ("unheard-of", {}, ()),
    ],
)
def test_a_type_suggests_its_hosts(
    kind: str, fields: dict[str, str], hosts: tuple[str, ...]
) -> None:
    assert suggested_hosts(kind, fields) == hosts


def test_a_type_suggests_the_modules_that_take_it() -> None:
    assert suggested_modules("stripe") == ("stripe.*",)
    assert suggested_modules("bearer") == ("*",)
