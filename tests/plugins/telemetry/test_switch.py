"""Tests of the conditions under which spans are made, and of the cost without them."""

import subprocess
import sys
from collections.abc import Iterator
from uuid import UUID

import pytest

from tests.support.stack import PROJECT
from valkyr_plugins.telemetry import spans, switch


@pytest.fixture(autouse=True)
def undecided(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in (*switch.ENDPOINTS, "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"):
        monkeypatch.delenv(name, raising=False)
    switch.on.cache_clear()
    yield
    monkeypatch.undo()
    switch.on.cache_clear()


@pytest.mark.parametrize(
    ("given", "on"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, False),
    ],
)
def test_the_standards_variables_decide(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], on: bool
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)

    assert switch.on() is on


def test_without_a_collector_the_sdk_is_never_imported() -> None:
    program = (
        "import sys, valkyr_project.celery, django; django.setup(); "
        "import runners.pipeline.execute, valkyr_plugins.remote.reporting; "
        "from valkyr_plugins.telemetry.requests import traced; traced(print); "
        "print([m for m in sys.modules if m.startswith(('opentelemetry.sdk.trace', "
        "'opentelemetry.exporter', 'google.protobuf'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


def test_a_spans_id_follows_from_its_row_and_nothing_else() -> None:
    run = UUID("0190b5c8-7a3e-7c51-9d53-2f6f7f1c1e11")

    assert spans.span_id("run.execute", run, 1) == spans.span_id("run.execute", run, 1)
    assert len({spans.span_id("run.execute", run, token) for token in range(1_000)}) == 1_000
    assert 0 < spans.span_id("run.execute", run, 1) < 2**64
