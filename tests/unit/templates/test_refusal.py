"""Templates may be rendered anywhere except while a request is answered."""

import os
import subprocess
import sys

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory, override_settings
from django.urls import path

from executions.definition.templates import compile_template
from executions.definition.templating import budget, render_guard
from executions.definition.templating.render_guard import RenderedInRequest
from executions.definition.templating.secrets import REFERENCES, reveal

TEMPLATE = compile_template({"sum": "{{ 1 + input.one }}"})


def test_a_template_is_refused_while_a_request_is_answered() -> None:
    with render_guard.refused(), pytest.raises(RenderedInRequest, match="Let a worker render it"):
        TEMPLATE.render({"input": {"one": 1}})

    assert TEMPLATE.render({"input": {"one": 1}}) == {"sum": 2}


def test_secrets_are_not_put_in_by_rendering_while_a_request_is_answered() -> None:
    sealed = compile_template({"key": "{{ secrets.shop }}"}).sealed

    with render_guard.refused(), pytest.raises(RenderedInRequest):
        reveal(sealed, {"key": "[secret:shop]"}, {"secrets": REFERENCES}, {})


def test_a_value_without_expressions_is_no_rendering() -> None:
    with render_guard.refused():
        assert compile_template({"a": [1, "b"]}).render({}) == {"a": [1, "b"]}


def test_what_a_request_cannot_do_without_is_allowed_by_name() -> None:
    with render_guard.refused():
        with render_guard.allowed():
            assert TEMPLATE.render({"input": {"one": 2}}) == {"sum": 3}
        assert not render_guard.renders_here()


@pytest.mark.parametrize(
    ("process", "renders"),
    [("web", False), ("web-8000", False), ("worker-default", True), ("consumer", True)],
)
def test_a_web_process_renders_nowhere_not_even_beside_requests(
    process: str, renders: bool
) -> None:
    code = (
        "from executions.definition.templating.render_guard import renders_here;"
        "print(renders_here())"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"VALKYR_PROCESS": process},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == str(renders)


@pytest.mark.parametrize(
    ("process", "limits"),
    [
        ("web", "web"),
        ("web-8000", "web"),
        ("beat", "web"),
        ("consumer", "web"),
        ("worker-control", "control"),
        ("worker-io", "worker"),
        ("tool", "worker"),
    ],
)
def test_a_process_has_the_limits_of_its_kind(
    process: str, limits: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_PROCESS", process)

    # A process keeps its kind; this one has another for a moment.
    assert budget.profile_of_process().name == limits


def test_an_allowance_of_a_message_ends_in_a_worker_too() -> None:
    allowance, free = render_guard.Allowance(0.0, workers=True), render_guard.Allowance(0.0)
    for each in (allowance, free, free):
        with each.rendering():
            TEMPLATE.render({"input": {"one": 1}})

    with pytest.raises(render_guard.TimeSpent), allowance.rendering():
        pass


def _limits_of_a_request() -> str:
    """Return the limits within which a project's view renders, for a server of any kind."""
    found: list[str] = []

    def view(request: HttpRequest) -> HttpResponse:
        found.append(budget.current_profile().name)
        return HttpResponse()

    with override_settings(MIDDLEWARE=[], ROOT_URLCONF=(path("", view),)):
        environ = RequestFactory().get("/").environ
        answer = WSGIHandler()(environ, lambda status, headers: None)
        answer.close()
    return found[0]


def test_a_request_has_the_limits_of_a_web_process_whatever_its_process_is_called() -> None:
    assert budget.current_profile().name == "worker"

    assert _limits_of_a_request() == "web"

    assert budget.current_profile().name == "worker"
