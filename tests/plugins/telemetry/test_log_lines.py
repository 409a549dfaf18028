"""Tests of span facts in log lines, and of the lines about a missing collector."""

import logging

from valkyr_plugins.telemetry.log_lines import Seldom


def record(message: str, name: str = "a.b", level: int = 30) -> logging.LogRecord:
    return logging.LogRecord(name, level, "file.py", 1, message, (), None)


def test_a_collector_that_is_gone_is_told_of_once_a_minute() -> None:
    seldom = Seldom()
    said = [record("gone", name="opentelemetry.exporter", level=40) for _ in range(100)]

    assert [seldom.filter(each) for each in said] == [True] + 99 * [False]
    assert said[0].getMessage() == "spans are not exported: gone"
    assert seldom.filter(record("other"))
