"""The studio's other data from the server: modules, templates, the last author of a draft."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.definition.catalog import OutcomeRule, catalog, outcomes_by
from executions.publishing import versioning
from executions.publishing.samples import samples
from runners.modules import registry
from tests.support import modules

from .people import GREETING

pytestmark = pytest.mark.django_db


# A `with` of each module whose outcomes depend on it, and the outcomes.
DEPENDING: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("flow.switch", {"cases": ["DE", 1, 2.0, True, None]},
     ("DE", "1", "2", "true", "null", "default")),
    ("flow.switch", {"cases": {"DE": "near", "FR": "near"}, "default": "far"}, ("near", "far")),
    ("flow.switch", {"cases": "{{ no }}"}, ("default",)),
    ("flow.switch", {}, ("default",)),
    ("llm.chat", {"tools": []}, ("answer", "tool_calls")),
    ("llm.chat", {"tools": None}, ()),
    ("llm.chat", {}, ()),
    ("stripe.payment_intent", {"onDecline": "branch"}, ("accepted", "declined")),
    ("stripe.payment_intent", {"onDecline": "fail"}, ()),
    ("remote.step", {"outcomes": ["a", "b", "a"]}, ("a", "b")),
    ("remote.step", {}, ()),
    ("flow.pinned", {"outcome": "true", "outcomes": ["true", "false"]}, ("true", "false")),
    ("flow.if", {}, ("true", "false")),
    ("flow.noop", {}, ()),
]  # fmt: skip


@pytest.mark.parametrize(("name", "config", "expected"), DEPENDING)
def test_outcomes_follow_from_the_rules_that_the_api_tells(
    author: APIClient, name: str, config: dict[str, Any], expected: tuple[str, ...]
) -> None:
    told = {one["type"]: one for one in author.get("/v1/ModuleType").json()}[name]
    rules = [OutcomeRule(**{**one, "outcomes": tuple(one["outcomes"])})
             for one in told["outcomesFrom"]]  # fmt: skip

    by_rules = outcomes_by(rules, config) if rules else tuple(told["outcomes"])

    assert by_rules == registry.get(name).outcomes_for(config) == expected


def test_every_module_whose_outcomes_depend_says_how() -> None:
    modules.register()
    from runners.modules.base import Module

    for name in registry.specs():
        module = registry.get(name)
        own = type(module).outcomes_for is not Module.outcomes_for
        assert not own or name.startswith("test."), f"{name} has outcomes the studio cannot tell"


def test_modules_tell_all_that_a_palette_needs(author: APIClient) -> None:
    told = {one["type"]: one for one in author.get("/v1/ModuleType").json()}

    assert all(one["icon"] for one in told.values())
    assert (told["flow.map"]["container"], told["http.request"]["container"]) == ("map", "")
    assert told["flow.loop"]["deferred"] == ["while", "until"]
    assert told["flow.delay"]["waits"] is True


def test_only_some_modules_are_told(author: APIClient) -> None:
    told = author.get("/v1/ModuleType?types=http.request, flow.map,gone.module").json()

    assert [one["type"] for one in told] == ["flow.map", "http.request"]


@pytest.mark.parametrize("address", ["/v1/ModuleType", "/v1/WorkflowTemplate"])
def test_what_changes_with_a_release_is_loaded_once(author: APIClient, address: str) -> None:
    first = author.get(address)
    again = author.get(address, headers={"If-None-Match": f"W/{first['ETag']}"})
    other = author.get(address, headers={"If-None-Match": '"another"'})

    assert first["Cache-Control"] == "private, max-age=300"
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    assert other.json() == first.json()


def test_every_template_can_be_published_as_it_is(author: APIClient) -> None:
    told = author.get("/v1/WorkflowTemplate").json()

    assert len(told) > 20
    for template in told:
        assert template["title"]
        assert template["description"]
        assert template["tags"]
        assert versioning.check(template["definition"]) == []
    names = [template["name"] for template in told]
    assert "order-import" in names
    assert "order-with-shipping" not in names


def test_templates_are_the_same_objects_for_every_request() -> None:
    assert samples() is samples()
    assert {sample.definition["schema"] for sample in samples()} == {"valkyr/1"}
    assert catalog()


def test_a_conflict_says_who_changed_the_draft_and_when(
    author: APIClient, member: Callable[..., Any], client_of: Callable[[Any], APIClient]
) -> None:
    made = author.post("/v1/Workflow", {"name": "w", "definition": GREETING}, format="json")
    address = f"/v1/Workflow/{made.json()['id']}"
    other = client_of(member("WORKFLOW", name="grace"))
    changed = other.patch(address, {"description": "mine"}, format="json")
    author.post(f"{address}/publish")

    answer = author.put(
        address, {"name": "w", "definition": {}}, format="json", headers={"If-Match": '"1"'}
    )

    assert answer.status_code == 412
    told = answer.json()
    assert (told["code"], told["revision"], told["changedBy"]) == ("stale_revision", 2, "grace")
    assert abs(_time(told["changedAt"]) - _time(changed.json()["updatedAt"])) < 1


def _time(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()
