"""Egress rules are evaluated without a database."""

import pytest

from executions.egress.rules import EgressRules, Verdict, problems_of, stored

RULES = EgressRules(
    ("api.example.com", "*.shop.example:8443", "10.0.0.0/8", "[2001:db8::1]:443"), workspace="shop"
)


@pytest.mark.parametrize(
    ("host", "port", "verdict"),
    [
        ("api.example.com", 80, Verdict.ALLOWED),
        ("API.example.com.", None, Verdict.ALLOWED),
        ("eu.shop.example", 8443, Verdict.ALLOWED),
        ("10.1.2.3", 5432, Verdict.ALLOWED),
        ("::ffff:10.1.2.3", 5432, Verdict.ALLOWED),
        ("2001:db8::1", 443, Verdict.ALLOWED),
        ("2001:db8::1", 80, Verdict.REFUSED),
        ("192.0.2.1", 80, Verdict.REFUSED),
        ("api.example.com.evil.example", 443, Verdict.BY_ADDRESS),
        ("eu.shop.example", 443, Verdict.BY_ADDRESS),
        ("shop.example", 8443, Verdict.BY_ADDRESS),
    ],
)
def test_a_host_is_allowed_refused_or_decided_by_its_address(
    host: str, port: int | None, verdict: Verdict
) -> None:
    assert RULES.verdict(host, port) is verdict


def test_only_ranges_for_the_port_decide_on_addresses() -> None:
    rules = EgressRules(("10.0.0.0/8:5432", "api.example.com"))

    assert rules.verdict("db.internal", 5432) is Verdict.BY_ADDRESS
    assert rules.verdict("db.internal", 80) is Verdict.REFUSED
    assert rules.allows_address("10.9.9.9", 5432)
    assert not rules.allows_address("10.9.9.9", 80)
    assert not rules.allows_address("11.0.0.1", 5432)


def test_names_alone_refuse_before_a_name_is_resolved() -> None:
    assert EgressRules(("api.example.com",)).verdict("x.example", 443) is Verdict.REFUSED


def test_a_broken_entry_allows_nothing() -> None:
    rules = EgressRules(("https://api.example.com/",))

    assert rules.verdict("api.example.com", 443) is Verdict.REFUSED


def test_problems_name_their_entry() -> None:
    found = problems_of(["api.example.com", "https://x/", "*", "10.0.0.0/99", "*.com"])

    assert [one.path for one in found] == ["egressHosts[1]", "egressHosts[3]", "egressHosts[4]"]
    assert problems_of(["a.example"] * 101)[0].code == "count"
    assert stored([" B.example ", "a.example", "b.example"]) == ["a.example", "b.example"]


def test_without_rules_of_its_own_the_refusal_names_the_setting() -> None:
    said = EgressRules(("api.example.com",)).refusal("x.example:443")

    assert said.startswith("this installation does not allow connections to x.example:443;")
    assert "VALKYR_EGRESS_ALLOW allows api.example.com." in said
