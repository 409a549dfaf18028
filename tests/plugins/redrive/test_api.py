"""Tests of redrives over HTTP: requests, permissions, responses."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from dlq.models import DeadLetterEntry
from executions.access import SCOPES, TokenLimits
from executions.models import Activity, Workspace
from executions.states import Permission
from runners.models import Run
from tests.support.workflows import publish, start, task
from valkyr_plugins.redrive import driver
from valkyr_plugins.redrive.models import Redrive

pytestmark = pytest.mark.django_db
LETTERS, REDRIVES = "/v1/DeadLetterQueue", "/v1/Redrive"


@pytest.fixture
def letters(author: APIClient) -> Callable[[int], list[str]]:
    """Return a function that creates dead letters of one workflow."""

    def make(count: int) -> list[str]:
        values = {"values": {"to": "{{ input.to }}"}}
        workflow = publish({"tasks": [task("one", "data.set", **{"with": values})]})
        ids = [start(workflow, {"to": f"Ann {n}"}) for n in range(count)]
        for run in Run.objects.filter(execution_id__in=ids):
            answer = author.post(f"/v1/Run/{run.pk}/quarantine", {"reason": "x"}, format="json")
            assert answer.status_code == 200, answer.content
        rows = DeadLetterEntry.objects.filter(execution_id__in=ids)
        rows.update(original_inputs={"values": {"to": "Ann"}})
        return [str(pk) for pk in rows.order_by("pk").values_list("pk", flat=True)]

    return make


def post(client: APIClient, address: str, body: Any = None, expected: int = 200) -> Any:
    answer = client.post(address, body or {}, format="json")
    assert answer.status_code == expected, answer.content
    return answer.json()


def test_a_redrive_is_made_previewed_started_and_followed(
    author: APIClient, letters: Callable[[int], list[str]]
) -> None:
    ids = letters(3)
    body = {"ids": ids, "ratePerSecond": 5, "canary": 1, "stopAbove": 20, "reason": "mended"}
    answer = author.post(REDRIVES, body, format="json")
    made = answer.json()
    assert (answer.status_code, answer["Location"]) == (201, f"{REDRIVES}/{made['id']}")
    assert (made["state"], made["total"], made["selection"]) == ("DRAFT", 3, {"ids": ids})
    assert made["progress"]["queued"] == 3

    seen = post(author, f"{REDRIVES}/{made['id']}/preview")
    assert (seen["runs"], seen["skipped"], seen["effects"], seen["seconds"]) == (3, [], [], 0.6)
    assert seen["samples"][0]["before"] == {"values": {"to": "Ann"}}

    begun = post(author, f"{REDRIVES}/{made['id']}/start")
    assert begun["state"] == "RUNNING"
    driver.drive()
    now = author.get(f"{REDRIVES}/{made['id']}").json()
    assert (now["progress"]["running"], now["progress"]["queued"]) == (1, 2)
    sent = author.get(f"{REDRIVES}/{made['id']}/items?state=RUNNING").json()
    assert [item["entryId"] for item in sent] == ids[:1]
    assert sent[0]["runId"] == str(DeadLetterEntry.objects.get(pk=ids[0]).requeued_run_id)

    assert post(author, f"{REDRIVES}/{made['id']}/pause", {"reason": "lunch"})["state"] == "PAUSED"
    assert post(author, f"{REDRIVES}/{made['id']}/resume")["state"] == "RUNNING"
    over = post(author, f"{REDRIVES}/{made['id']}/abort")
    assert (over["state"], over["progress"]["aborted"]) == ("ABORTED", 2)
    refused = post(author, f"{REDRIVES}/{made['id']}/start", expected=409)
    assert refused["state"] == "ABORTED"
    listed = author.get(f"{REDRIVES}?state=ABORTED").json()
    assert [row["id"] for row in listed] == [made["id"]]


def test_items_come_in_pages(author: APIClient, letters: Callable[[int], list[str]]) -> None:
    ids = letters(5)
    made = post(author, REDRIVES, {"ids": ids}, 201)
    address, found = f"{REDRIVES}/{made['id']}/items?limit=2", []
    while address:
        answer = author.get(address)
        found += [item["entryId"] for item in answer.json()]
        address = answer.headers.get("Link", "").partition(">")[0].lstrip("<")

    assert found == ids


def test_many_are_requeued_at_once_by_filter(
    author: APIClient, letters: Callable[[int], list[str]]
) -> None:
    letters(2)
    condition = {"path": "values.to", "op": "eq", "value": "Ann"}
    body = {"filter": {"module": "data.set", "inputs": [condition]}, "reason": "mended"}
    begun = post(author, f"{LETTERS}/requeue", body, 202)
    driver.drive()

    assert (begun["state"], begun["total"]) == ("RUNNING", 2)
    assert begun["selection"] == {"filter": body["filter"]}
    assert set(DeadLetterEntry.objects.values_list("resolution", "notes")) == {
        ("REQUEUED", "mended")
    }
    rest = post(author, f"{LETTERS}/requeue", body, 422)
    assert rest["code"] == "invalid_redrive"


def test_of_a_group_all_open_ones_are_taken(
    author: APIClient, letters: Callable[[int], list[str]]
) -> None:
    first = DeadLetterEntry.objects.get(pk=letters(3)[0])
    made = post(author, REDRIVES, {"groupId": str(first.group_id)}, 201)

    assert (made["groupId"], made["total"]) == (str(first.group_id), 3)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "ids"),
        ({"ids": [], "groupId": None}, "ids"),
        ({"filter": {"colour": "red"}}, "filter.colour"),
        ({"filter": {"inputs": [{"path": "", "op": "eq", "value": 1}]}}, "filter.inputs"),
        ({"filter": {}, "canary": -1}, "canary"),
        ({"filter": {}, "ratePerSecond": -1}, "ratePerSecond"),
        ({"filter": {}, "overrides": []}, "overrides"),
        ({"filter": {}, "expression": "inputs."}, "expression"),
        ({"filter": {}, "scope": "TASK"}, "scope"),
        ({"filter": {}, "version": "latest"}, "version"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(
    author: APIClient, letters: Callable[[int], list[str]], body: Any, path: str
) -> None:
    letters(1)
    refused = post(author, REDRIVES, body, 422)

    assert path in {problem["path"] for problem in refused["errors"]}, refused
    assert not Redrive.objects.exists()


def test_ids_that_are_not_ours_are_named(
    author: APIClient, letters: Callable[[int], list[str]]
) -> None:
    ids = letters(1)
    gone = "0192aaaa-0000-7000-8000-000000000000"
    refused = post(author, REDRIVES, {"ids": [*ids, gone]}, 422)

    assert [problem["path"] for problem in refused["errors"]] == ["ids[1]"]
    assert post(author, REDRIVES, {"ids": [gone]}, 404)["code"] == "not_found"


def limited(user: Any, workspace: Workspace, *without: Permission) -> Any:
    """Return the user, signed in with a token without these permissions."""
    user.token_limits = TokenLimits(workspace.pk, frozenset(SCOPES) - set(without))
    return user


def test_who_may_not_redrive_is_told_as_much_as_may_be_known(
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    letters: Callable[[int], list[str]],
    workspace: Workspace,
) -> None:
    ids = letters(1)
    stranger = client_of(member("USER"))
    robot = client_of(member("SYSTEM"))
    looker = client_of(limited(member("WORKFLOW", name="w"), workspace, Permission.REDRIVE))

    for body in ({"ids": ids}, {"filter": {}}):
        post(stranger, REDRIVES, body, 404)
        post(robot, REDRIVES, body, 403)
        assert "do not include redrive" in post(looker, REDRIVES, body, 403)["detail"]
    assert not Redrive.objects.exists()


def test_changes_and_many_need_permissions_of_their_own(
    author: APIClient,
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    letters: Callable[[int], list[str]],
    workspace: Workspace,
) -> None:
    ids = letters(21)
    person = member("WORKFLOW", name="helper")
    client = client_of(limited(person, workspace, Permission.BULK, Permission.REDRIVE_CHANGED))

    assert "bulk" in post(client, REDRIVES, {"ids": ids}, 403)["detail"]
    assert "bulk" in post(client, f"{LETTERS}/requeue", {"ids": ids}, 403)["detail"]
    changed = {"ids": ids[:1], "overrides": {"values": {}}}
    assert "redrive_with_overrides" in post(client, REDRIVES, changed, 403)["detail"]
    post(client, REDRIVES, {"ids": ids[:20]}, 201)
    # A user who may create them may let others start them, but not vice versa.
    for body in ({"ids": ids}, changed):
        made = post(author, REDRIVES, body, 201)
        post(client, f"{REDRIVES}/{made['id']}/start", expected=403)


def test_a_preview_shows_what_an_expression_gives(
    author: APIClient, letters: Callable[[int], list[str]]
) -> None:
    expression = '{"values": {"to": inputs.values.to | lower}}'
    made = post(author, REDRIVES, {"ids": letters(2), "expression": expression}, 201)

    seen = post(author, f"{REDRIVES}/{made['id']}/preview")

    assert seen["samples"][0]["after"] == {"values": {"to": "ann"}}
    assert (seen["checked"], seen["rejected"]) == (2, [])


def test_a_preview_ends_when_its_time_is_over(
    author: APIClient, letters: Callable[[int], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("valkyr_plugins.redrive.preview.TRIED_SECONDS", 0)
    made = post(author, REDRIVES, {"ids": letters(3), "expression": "inputs"}, 201)

    assert post(author, f"{REDRIVES}/{made['id']}/preview")["checked"] == 1


def test_who_may_not_see_payloads_neither_asks_by_them_nor_sees_samples(
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    letters: Callable[[int], list[str]],
    workspace: Workspace,
) -> None:
    ids = letters(1)
    person = member("WORKFLOW", name="helper")
    client = client_of(limited(person, workspace, Permission.VIEW_PAYLOADS))
    condition = {"path": "values.to", "op": "eq", "value": "Ann"}

    post(client, REDRIVES, {"filter": {"inputs": [condition]}}, 403)
    post(client, REDRIVES, {"ids": ids, "expression": "inputs"}, 403)
    made = post(client, REDRIVES, {"ids": ids, "overrides": {"values": {"to": "Bob"}}}, 201)
    assert all("$hidden" in made[name] for name in ("selection", "overrides", "expression"))
    seen = post(client, f"{REDRIVES}/{made['id']}/preview")
    assert "$hidden" in seen["samples"][0]["before"]


def test_the_command_looks_first_and_then_starts(
    letters: Callable[[int], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    ids = letters(2)
    call_command("redrive", "--ids", *ids, "--rate", "1", "--dry-run")
    assert capsys.readouterr().out == "2 would run, in about 2 s.\n"
    assert not Redrive.objects.exists()
    assert not Activity.objects.filter(object_type="Redrive").exists()

    call_command("redrive", "--filter", '{"module": "data.set"}', "--reason", "mended")
    made = Redrive.objects.get()
    assert f"Redrive {made.pk}: 2 entries" in capsys.readouterr().out
    assert (made.state, made.reason, made.selection) == (
        "RUNNING", "mended", {"filter": {"module": "data.set"}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--filter", "{"], "--filter is not valid JSON"),
        (["--filter", '{"colour": 1}'], "colour: Unknown field"),
        (["--filter", "{}", "--canary", "-1"], "canary: Expected 0"),
        (["--filter", '{"module": "x"}'], "nothing to redrive"),
    ],
)
def test_the_command_says_what_is_wrong(
    letters: Callable[[int], list[str]], arguments: list[str], says: str
) -> None:
    letters(1)

    with pytest.raises(CommandError, match=says):
        call_command("redrive", *arguments)
