"""Templates are evaluated over HTTP with the caller's data, as in a step."""

import math
from typing import Any

import pytest
from rest_framework.test import APIClient

pytestmark = pytest.mark.django_db

SCOPE = {
    "input": {"name": "ada", "lines": [{"price": 2.5}, {"price": 4}]},
    "tasks": {"fetch": {"output": {"rows": [3, 1, 2]}, "outcome": "success"}},
}


def asked(author: APIClient, greeting: dict[str, Any], template: str, **more: Any) -> Any:
    body = {"template": template, "scope": SCOPE} | more
    return author.post(f"/v1/Workflow/{greeting['id']}/evaluate", body, format="json")


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{ input.name | upper }}", "ADA"),
        ("{{ input.lines | map(attribute='price') | sum }}", 6.5),
        ("{{ tasks.fetch.output.rows | sort }}", [1, 2, 3]),
        ("{{ tasks.fetch.output.rows | length > 2 }}", True),
        ("Hello {{ input.name }}", "Hello ada"),
        ("no expression", "no expression"),
    ],
)
def test_a_template_is_told_with_the_type_that_a_step_gets(
    author: APIClient, greeting: dict[str, Any], template: str, value: Any
) -> None:
    answer = asked(author, greeting, template)

    assert answer.status_code == 200
    assert answer.json() == {"value": value, "truncated": False, "error": None}


@pytest.mark.parametrize(
    ("template", "error"),
    [
        ("{{ input.nam }}", '"input" has no key "nam"; it has "name", "lines"'),
        ("{{ input.name | uper }}", 'there is no filter "uper"'),
        ("{{ input.name", "{{ is not closed; expected }} after the expression"),
        ("{{ other }}", '"other" is not available here'),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ secrets.shop }}", "Credentials are read only while a step runs"),
        ("{{ range(100000000) | list }}", "at most 100,000 numbers"),
    ],
)
def test_why_there_is_no_value_is_told_plainly(
    author: APIClient, greeting: dict[str, Any], template: str, error: str
) -> None:
    answer = asked(author, greeting, template)

    assert answer.status_code == 200
    assert answer.json()["value"] is None
    assert error in answer.json()["error"]


def test_a_long_value_is_cut(author: APIClient, greeting: dict[str, Any]) -> None:
    text = asked(author, greeting, "{{ 'ab' * 10000 }}").json()
    rows = asked(author, greeting, "{{ range(10000) | list }}").json()

    assert text == {"value": "ab" * 1000, "truncated": True, "error": None}
    assert rows["truncated"]
    assert rows["value"].startswith("[0,1,2,3,")
    assert len(rows["value"]) == 2000


def test_evaluating_stores_nothing_and_needs_to_see_the_workflow(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    assert asked(author, greeting, "{{ 1 }}", scope={"input": [math.pi]}).json()["value"] == 1
    assert asked(author, greeting, "", scope={}).status_code in (200, 422)
    assert asked(author, greeting, "x" * 20_000).status_code == 422
    assert asked(author, greeting, "{{ 1 }}", scope=[]).status_code == 422
    away = author.post(
        "/v1/Workflow/00000000-0000-0000-0000-000000000000/evaluate",
        {"template": "{{ 1 }}"},
        format="json",
    )
    assert away.status_code == 404


def next_times(author: APIClient, greeting: dict[str, Any], trigger: Any) -> Any:
    body = {"trigger": trigger}
    return author.post(f"/v1/Workflow/{greeting['id']}/next-times", body, format="json")


def test_the_next_times_of_a_schedule_are_told_in_its_zone(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    daily = {"type": "CRON", "schedule": "30 8 * * *", "timezone": "Asia/Tokyo"}
    told = next_times(author, greeting, daily).json()

    assert told["error"] is None
    assert len(told["times"]) == 5
    assert {time[11:19] for time in told["times"]} == {"23:30:00"}
    assert told["times"] == sorted(told["times"])


@pytest.mark.parametrize(
    ("trigger", "error"),
    [
        ({"schedule": "61 * * * *"}, "61"),
        ({"schedule": "0 8 * * *", "timezone": "Mars/Base"}, "Mars/Base"),
        ({}, "schedule"),
    ],
)
def test_a_schedule_that_cannot_be_published_says_why(
    author: APIClient, greeting: dict[str, Any], trigger: Any, error: str
) -> None:
    answer = next_times(author, greeting, trigger)

    assert answer.status_code == 200
    assert answer.json()["times"] == []
    assert error in answer.json()["error"]
    assert next_times(author, greeting, []).status_code == 422
