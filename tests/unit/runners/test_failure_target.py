"""A failed step's target, with the name that its module's circuit uses."""

from typing import Any

import pytest

from runners.failures.classification import classify
from runners.modules.base import StepError
from runners.pipeline.execute import failure_target
from runners.pipeline.reveal_secrets import Revealed
from runners.secrets.scrubbing import Scrubber
from runners.segment.inputs import Prepared

pytestmark = pytest.mark.plugins

URL = "https://api.example.org:8443/orders/17?key=sk_live_1"


def prepared(value: Any) -> Prepared:
    return Prepared(value, "", "", "")


@pytest.mark.parametrize(
    ("module", "given", "target"),
    [
        ("http.request", {"url": URL}, "api.example.org:8443"),
        ("graphql.query", {"url": URL, "query": "{a}"}, "api.example.org:8443"),
        ("data.set", {"values": {}}, ""),
        ("http.request", {"url": 5}, ""),
        ("no.such_module", {}, ""),
    ],
)
def test_it_is_the_host_or_nothing(module: str, given: Any, target: str) -> None:
    assert failure_target(module, prepared(given), None) == target


def test_a_secret_in_it_is_taken_out() -> None:
    scrub = Scrubber({"sekrit-host": "[secret:host]"})
    revealed = Revealed({"url": "https://sekrit-host.example.org/"}, None, scrub, {})

    found = failure_target("http.request", prepared({"url": "https://[secret:host]/"}), revealed)

    assert found == "[secret:host].example.org"


def test_a_failure_keeps_what_its_module_calls_it_without_secrets() -> None:
    error = StepError("no", fingerprint="declined sekrit-card", details={"status": 402})

    plain, clean = classify(error), classify(error, Scrubber({"sekrit-card": "[secret:card]"}))

    assert (plain.fingerprint, plain.http_status) == ("declined sekrit-card", 402)
    assert clean.fingerprint == "declined [secret:card]"


@pytest.mark.parametrize("status", [True, "503", 99, 1000, None])
def test_what_is_no_status_is_none(status: Any) -> None:
    assert classify(StepError("no", details={"status": status})).http_status is None
