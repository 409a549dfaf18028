"""Django's handler that produces an answer, and its check of a request's origin."""

from typing import Any

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections
from django.http import HttpResponse
from django.test import RequestFactory

from executions.vendor_seams.django_requests import origin_verified, set_handler

SEE = "Django has changed: see executions/vendor_seams/django_requests.py"


class Handler:
    """A handler that answers."""


def test_the_handler_is_the_sender_when_an_answer_is_closed() -> None:
    heard: list[Any] = []

    def hear(sender: Any, **_: Any) -> None:
        heard.append(sender)

    answer = HttpResponse()
    set_handler(answer, Handler)
    request_finished.disconnect(close_old_connections)
    request_finished.connect(hear)
    try:
        answer.close()
    finally:
        request_finished.disconnect(hear)
        request_finished.connect(close_old_connections)

    assert heard == [Handler], SEE


@pytest.mark.parametrize(
    ("origin", "own"),
    [("http://testserver", True), ("http://elsewhere.example", False), ("null", False)],
)
def test_only_this_hosts_pages_are_verified(origin: str, own: bool) -> None:
    request = RequestFactory().get("/", headers={"Origin": origin})

    assert origin_verified(request) is own, SEE
