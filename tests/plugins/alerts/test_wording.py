"""Tests of the texts of messages with any third-party text in them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valkyr_plugins.alerts.channels import _line, footer, headline, lines
from valkyr_plugins.alerts.decisions import clipped

HOSTILE = "boom\r\nBcc: eve@example.com\n<!channel> <https://evil.example|click> \u202egnp.exe\x00"


def message(*sentences: str, reason: str = "RAISED", more: int = 0) -> dict[str, Any]:
    alerts = [
        {"sentence": said, "link": "https://valkyr.example/admin/", "count": 1}
        for said in sentences
    ]
    return {
        "reason": reason,
        "rule": {"id": "1", "name": "On call"},
        "workspace": "shop",
        "alerts": alerts,
        "more": more,
        "link": "https://valkyr.example/admin/",
    }


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("RAISED", "[shop] It broke."),
        ("AGAIN", "[shop] Still: It broke."),
        ("OVER", "[shop] Over: It broke."),
        ("TEST", "[shop] Test of the alert rule On call"),
    ],
)
def test_the_headline_says_it(reason: str, said: str) -> None:
    assert headline(message("It broke.", reason=reason)) == said


def test_many_alerts_are_counted_and_the_first_listed() -> None:
    told = message("one", "two", more=40)

    assert headline(told) == "[shop] 42 alerts: On call"
    assert [text for text, _ in lines(told)] == ["one", "two", "And 40 more."]


def test_hostile_text_stays_one_line() -> None:
    told = message(HOSTILE)

    for text in (headline(told), footer(told), *(text for text, _ in lines(told))):
        assert len(text.splitlines()) == 1
        assert "\x00" not in text
        assert "\u202e" not in text


def test_nobody_is_mentioned_in_slack_by_a_failure() -> None:
    said = _line(HOSTILE, "https://valkyr.example/admin/?a=1&b=2")

    assert "<!channel>" not in said
    assert "&lt;!channel&gt;" in said
    assert said.endswith("<https://valkyr.example/admin/?a=1&amp;b=2|Open>")


@given(st.text(), st.integers(1, 50))
def test_a_clipped_text_is_short_and_printable(text: str, length: int) -> None:
    found = clipped(text, length)

    assert len(found) <= length
    assert found.isprintable()
