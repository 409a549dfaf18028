"""Failure groups over HTTP."""

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from dlq.groups import tally
from dlq.models import FailureGroup
from executions.models import Workflow
from tests.support import admin_rows
from tests.support.failures import fail

pytestmark = pytest.mark.django_db
ADDRESS = "/v1/FailureGroup"


@pytest.fixture
def orders(workspace: Any) -> Workflow:
    """Create a workflow whose steps have failed once, twice, and three times, in three groups."""
    made = admin_rows.workflow()
    for times, message in ((1, "no such customer"), (3, "out of stock"), (2, "not paid")):
        for status in range(times):
            fail(made, message, details={"status": 500 + status})
    tally.fold()
    return made


def named(text: str) -> str:
    return str(FailureGroup.objects.get(message=text).pk)


def test_the_list_is_ordered_filtered_and_paged(
    author: APIClient, orders: Workflow, django_assert_max_num_queries: Any
) -> None:
    def listed(query: str) -> list[str]:
        with django_assert_max_num_queries(2):
            answer = author.get(f"{ADDRESS}?{query}")
        assert answer.status_code == 200, answer.content
        return [row["message"] for row in answer.json()]

    most = ["out of stock", "not paid", "no such customer"]
    assert listed("order=total") == listed("order=open") == most
    assert listed("") == ["not paid", "out of stock", "no such customer"]
    assert listed("text=STOCK") == ["out of stock"]
    assert listed("status=RESOLVED") == []
    assert len(listed(f"workflowId={orders.pk}&module=http.request")) == 3
    assert listed("seenAfter=2100-01-01T00:00:00Z") == []
    for order in ("total", "open", "lastSeen"):
        whole, found, at = listed(f"order={order}"), [], f"{ADDRESS}?limit=1&order={order}"
        while at:
            answer = author.get(at)
            found += [row["message"] for row in answer.json()]
            at = answer.get("Link", "").partition(">")[0].removeprefix("<")
        assert found == whole


def test_a_cursor_of_another_order_is_refused(author: APIClient, orders: Workflow) -> None:
    link = author.get(f"{ADDRESS}?limit=1&order=total")["Link"]
    cursor = link.partition("cursor=")[2].partition("&")[0].partition(">")[0]

    for query in (f"order=open&cursor={cursor}", "cursor=x", "cursor=WzEsIDIsIDNd"):
        answer = author.get(f"{ADDRESS}?{query}")
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["code"] == "bad_cursor"
        assert answer.json()["errors"][0]["message"].startswith("Invalid cursor")


def test_one_is_shown_with_its_hours_versions_and_facets(
    author: APIClient, orders: Workflow, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        shown = author.get(f"{ADDRESS}/{named('out of stock')}").json()

    assert (shown["total"], shown["open"], shown["status"]) == (3, 3, "NEW")
    assert shown["stepPath"] == "charge.main"
    assert sum(hour["count"] for hour in shown["hours"]) == 3
    assert [(one["number"], one["count"]) for one in shown["versions"]] == [(1, 3)]
    facets = {facet["name"]: facet for facet in shown["breakdown"]["facets"]}
    assert [share["value"] for share in facets["http_status"]["shares"]] == ["500", "501", "502"]
    assert shown["breakdown"]["lookedAt"] == 3
    assert len(shown["fingerprints"]) == 1
    assert shown["moving"] is False


def test_a_person_changes_status_owner_and_silence_at_once(
    author: APIClient, orders: Workflow
) -> None:
    me = User.objects.get(username="workflow-default")
    body = {
        "status": "RESOLVED",
        "resolvedIn": 4,
        "ownerId": me.pk,
        "muted": True,
        "reason": "mended",
    }

    answer = author.patch(f"{ADDRESS}/{named('not paid')}", body, format="json")

    assert answer.status_code == 200, answer.content
    shown = answer.json()
    assert (shown["status"], shown["resolvedIn"], shown["muted"]) == ("RESOLVED", 4, True)
    assert shown["owner"] == me.username
    trail = author.get(f"/v1/Activity?objectType=FailureGroup&objectId={shown['id']}").json()
    assert {row["action"] for row in trail} == {"group.resolve", "group.assign", "group.mute"}


def test_of_several_changes_all_are_made_or_none(author: APIClient, orders: Workflow) -> None:
    pk = named("not paid")
    body = {"status": "IGNORED", "ownerId": 2**31 - 1}

    answer = author.patch(f"{ADDRESS}/{pk}", body, format="json")

    assert answer.status_code == 422
    assert answer.json()["code"] == "cannot_own"
    assert author.get(f"{ADDRESS}/{pk}").json()["status"] == "NEW"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "status"),
        ({"reason": "x"}, "status"),
        ({"status": "REGRESSED"}, "status"),
        ({"status": "SNOOZED"}, "status"),
        ({"snoozeTotal": 5}, "snoozeTotal"),
        ({"status": "IGNORED", "resolvedIn": 5}, "resolvedIn"),
        ({"status": "RESOLVED", "resolvedIn": 0}, "resolvedIn"),
        ({"muted": "yes"}, "muted"),
        ({"state": "NEW"}, "state"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    author: APIClient, orders: Workflow, body: dict[str, Any], path: str
) -> None:
    answer = author.patch(f"{ADDRESS}/{named('not paid')}", body, format="json")

    assert answer.status_code == 422, answer.content
    assert [error["path"] for error in answer.json()["errors"]] == [path]


def test_many_are_changed_and_one_that_cannot_be_stops_no_other(
    author: APIClient, orders: Workflow
) -> None:
    ids = [named("not paid"), str(uuid4()), named("out of stock")]
    author.patch(f"{ADDRESS}/{ids[2]}", {"status": "ACKNOWLEDGED"}, format="json")

    body = {"ids": ids, "status": "ACKNOWLEDGED"}
    answer = author.post(f"{ADDRESS}/status", body, format="json").json()

    assert answer["done"] == ids[:1]
    assert [(one["id"], one["code"]) for one in answer["refused"]] == [
        (ids[1], "not_found"),
        (ids[2], "wrong_state"),
    ]


def test_notes_are_a_thread(author: APIClient, orders: Workflow) -> None:
    pk = named("not paid")
    for text in ("It is their side.", "They mend it on Monday."):
        made = author.post(f"{ADDRESS}/{pk}/notes", {"text": text}, format="json")
        assert made.status_code == 201, made.content

    notes = author.get(f"{ADDRESS}/{pk}").json()["notes"]
    assert [note["text"] for note in notes] == ["It is their side.", "They mend it on Monday."]
    assert notes[0]["author"] == "workflow-default"
    assert author.post(f"{ADDRESS}/{pk}/notes", {"text": " "}, format="json").status_code == 422


def test_groups_are_merged_and_taken_apart_again(author: APIClient, orders: Workflow) -> None:
    target, source = named("out of stock"), named("not paid")

    merged = author.post(f"{ADDRESS}/{target}/merge", {"ids": [source]}, format="json").json()
    assert (merged["total"], merged["open"], len(merged["fingerprints"])) == (5, 5, 2)
    assert author.get(f"{ADDRESS}/{source}").json()["mergedInto"] == target
    assert len(author.get(ADDRESS).json()) == 2
    changed = author.patch(f"{ADDRESS}/{source}", {"status": "IGNORED"}, format="json")
    assert changed.status_code == 409

    body = {"fingerprint": merged["fingerprints"][-1]["fingerprint"]}
    made = author.post(f"{ADDRESS}/{target}/unmerge", body, format="json")
    assert made.status_code == 201, made.content
    tally.fold()
    assert author.get(f"{ADDRESS}/{target}").json()["total"] == 3
    again = author.get(f"{ADDRESS}/{made.json()['id']}").json()
    assert (again["total"], again["message"]) == (2, "not paid")


def test_a_group_is_split_by_a_facet(author: APIClient, orders: Workflow) -> None:
    pk = named("out of stock")

    answer = author.post(f"{ADDRESS}/{pk}/split", {"by": "http_status"}, format="json")

    assert answer.status_code == 201, answer.content
    assert sorted(part["value"] for part in answer.json()) == ["500", "501", "502"]
    tally.fold()
    groups = {row["id"]: row for row in author.get(f"{ADDRESS}?text=stock").json()}
    assert set(groups) == {part["groupId"] for part in answer.json()}
    assert {row["total"] for row in groups.values()} == {1}
    assert {row["splitOn"] for row in groups.values()} == {
        "HTTP status 500", "HTTP status 501", "HTTP status 502",
    }  # fmt: skip
    same = author.post(f"{ADDRESS}/{pk}/split", {"by": "worker"}, format="json")
    assert (same.status_code, same.json()["code"]) == (422, "cannot_split")
