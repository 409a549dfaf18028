"""The operations that an object permission allows a member with the role USER, and all others."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest
from django.contrib.auth.models import Group
from rest_framework.test import APIClient

from executions.models import Activity, Membership, Workflow
from runners.models import Run
from tests.support.sharing import assign_perm

from .people import a_greeting, an_author

pytestmark = pytest.mark.django_db

# operation: (method, address, body), and the answers with only READ, WRITE, EXECUTE or DELETE.
OPERATIONS: dict[str, tuple[str, str, Any, tuple[int, int, int, int]]] = {
    "get workflow": ("get", "/v1/Workflow/{w}", None, (200, 403, 403, 403)),
    "change it": ("patch", "/v1/Workflow/{w}", {"enabled": True}, (403, 200, 403, 403)),
    "publish": ("post", "/v1/Workflow/{w}/publish", {}, (403, 409, 403, 403)),
    "versions": ("get", "/v1/Workflow/{w}/versions", None, (200, 403, 403, 403)),
    "export": ("get", "/v1/Workflow/{w}/export", None, (200, 403, 403, 403)),
    "delete": ("delete", "/v1/Workflow/{w}", None, (403, 403, 403, 204)),
    "share": ("put", "/v1/Workflow/{w}/permissions", {"permissions": []}, (403, 403, 403, 403)),
    "execute": (
        "post", "/v1/WorkflowExecution/{w}/execute", {"params": {"name": "x"}},
        (403, 403, 202, 403),
    ),
    "get execution": ("get", "/v1/WorkflowExecution/{e}", None, (200, 403, 403, 403)),
    "watch": ("get", "/v1/WorkflowExecution/{e}/subscribe", None, (200, 403, 403, 403)),
    "timeline": ("get", "/v1/WorkflowExecution/{e}/timeline", None, (200, 403, 403, 403)),
    "explain": ("get", "/v1/WorkflowExecution/{e}/explain", None, (200, 403, 403, 403)),
    "checkpoints": ("get", "/v1/WorkflowExecution/{e}/checkpoints", None, (200, 403, 403, 403)),
    "pause": ("post", "/v1/WorkflowExecution/{e}/pause", {}, (403, 200, 403, 403)),
    "cancel": ("post", "/v1/WorkflowExecution/{e}/cancel", {}, (403, 200, 403, 403)),
    "undo": ("post", "/v1/WorkflowExecution/{e}/undo", {}, (403, 409, 403, 403)),
    "roll back": ("post", "/v1/WorkflowExecution/{e}/rollback", {"stepPath": "no.no"},
                  (403, 422, 403, 403)),
    "replay": ("post", "/v1/WorkflowExecution/{e}/replay", {}, (403, 403, 202, 403)),
    "signal": ("post", "/v1/WorkflowExecution/{e}/signal", {"name": "n"}, (403, 403, 409, 403)),
    "get run": ("get", "/v1/Run/{r}", None, (200, 403, 403, 403)),
    "quarantine": ("post", "/v1/Run/{r}/quarantine", {"reason": "x"}, (403, 200, 403, 403)),
    "get dead letter": ("get", "/v1/DeadLetterQueue/{d}", None, (200, 403, 403, 403)),
    "requeue": ("post", "/v1/DeadLetterQueue/{d}/requeue", {}, (403, 403, 403, 403)),
}  # fmt: skip
CODES = ("read_workflow", "write_workflow", "execute_workflow", "delete_workflow")
LISTS = ("Workflow", "WorkflowExecution", "Run", "DeadLetterQueue")


@pytest.fixture(scope="module", autouse=True)
def things(kept_world: None) -> Mapping[str, str]:
    """Create two workflows, and two executions of the first: one with a live run, one with a dead
    letter.
    """
    author = an_author()
    greeting = a_greeting(author)
    other = author.post("/v1/Workflow", {"name": "not shared"}, format="json")
    assert other.status_code == 201
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    started = [
        author.post(address, {"params": {"name": "x"}}, format="json").json()["id"]
        for _ in range(2)
    ]
    dead = Run.objects.get(execution_id=started[0])
    letter = author.post(f"/v1/Run/{dead.pk}/quarantine", {"reason": "poison"}, format="json")
    live = Run.objects.get(execution_id=started[1])
    found = {"w": greeting["id"], "e": started[1], "r": str(live.pk), "d": letter.json()["id"]}
    return MappingProxyType(found)


@pytest.fixture
def ada(member: Callable[..., Any]) -> Any:
    return member("USER", name="ada")


@pytest.mark.parametrize("name", sorted(OPERATIONS))
@pytest.mark.parametrize("column", range(4), ids=CODES)
def test_a_permission_opens_its_operations_and_no_other(
    things: Mapping[str, str],
    ada: Any,
    client_of: Callable[[Any], APIClient],
    column: int,
    name: str,
) -> None:
    method, address, body, expected = OPERATIONS[name]
    client = client_of(ada)
    before = getattr(client, method)(address.format(**things), body, format="json")
    assign_perm(CODES[column], ada, Workflow.objects.get(pk=things["w"]))

    answer = getattr(client, method)(address.format(**things), body, format="json")

    assert before.status_code == 404
    assert answer.status_code == expected[column], answer.content


def test_lists_show_what_may_be_read_and_nothing_else(
    things: Mapping[str, str], ada: Any, client_of: Callable[[Any], APIClient]
) -> None:
    client = client_of(ada)
    assert [client.get(f"/v1/{name}").json() for name in LISTS] == [[], [], [], []]
    assign_perm("read_workflow", ada, Workflow.objects.get(pk=things["w"]))

    counts = [len(client.get(f"/v1/{name}").json()) for name in LISTS]

    assert counts == [1, 2, 2, 1]


def test_a_group_opens_as_much_as_a_person(
    things: Mapping[str, str], ada: Any, client_of: Callable[[Any], APIClient]
) -> None:
    night_shift = Group.objects.create(name="night shift")
    ada.groups.add(night_shift)
    assign_perm("read_workflow", night_shift, Workflow.objects.get(pk=things["w"]))
    client = client_of(ada)

    assert client.get(f"/v1/WorkflowExecution/{things['e']}").status_code == 200
    assert len(client.get("/v1/Run").json()) == 2


def test_who_leaves_the_workspace_has_nothing_left(
    things: Mapping[str, str], ada: Any, client_of: Callable[[Any], APIClient]
) -> None:
    assign_perm("read_workflow", ada, Workflow.objects.get(pk=things["w"]))
    Membership.objects.filter(user=ada).delete()
    client = client_of(ada)

    assert client.get(f"/v1/Workflow/{things['w']}").status_code == 404
    assert [client.get(f"/v1/{name}").json() for name in LISTS] == [[], [], [], []]


def test_payloads_are_hidden_until_their_permission_is_given(
    things: Mapping[str, str], ada: Any, client_of: Callable[[Any], APIClient]
) -> None:
    assign_perm("read_workflow", ada, Workflow.objects.get(pk=things["w"]))
    client = client_of(ada)
    address = f"/v1/WorkflowExecution/{things['e']}"

    hidden = client.get(address).json()
    Membership.objects.filter(user=ada).update(permissions=["view_payloads"])
    shown = client.get(address).json()

    assert list(hidden["triggerPayload"]) == list(hidden["contextData"]) == ["$hidden"]
    assert shown["triggerPayload"] == {"name": "x"}


def test_a_finer_permission_counts_only_on_what_one_may_see(
    things: Mapping[str, str], ada: Any, client_of: Callable[[Any], APIClient]
) -> None:
    Membership.objects.filter(user=ada).update(permissions=["redrive"])
    client = client_of(ada)
    address = f"/v1/DeadLetterQueue/{things['d']}/requeue"

    unseen = client.post(address, {}, format="json")
    assign_perm("read_workflow", ada, Workflow.objects.get(pk=things["w"]))
    changed = client.post(address, {"name": "y"}, format="json")
    plain = client.post(address, {}, format="json")

    assert (unseen.status_code, changed.status_code, plain.status_code) == (404, 403, 200)
    assert "redrive_with_overrides" in changed.json()["detail"]


def test_an_administrator_gives_and_takes(
    things: Mapping[str, str], ada: Any, admin: APIClient
) -> None:
    address = f"/v1/Workflow/{things['w']}/permissions"

    given = admin.put(
        address,
        {"username": "ada", "permissions": ["EXECUTE", "READ"], "reason": "on call"},
        format="json",
    )
    listed = admin.get(address).json()
    admin.put(address, {"username": "ada", "permissions": []}, format="json")

    assert given.status_code == 200, given.content
    assert listed == [
        {"username": "ada", "group": None, "permissions": ["READ", "EXECUTE"]},
    ]
    assert admin.get(address).json() == []
    noted = Activity.objects.filter(action="workflow.share").order_by("id")
    assert [row.after for row in noted] == [
        {"permissions": ["READ", "EXECUTE"]}, {"permissions": []}
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"username": "nobody", "permissions": ["READ"]}, 404),
        ({"group": "nobody", "permissions": ["READ"]}, 404),
        ({"permissions": ["READ"]}, 422),
        ({"username": "ada", "group": "x", "permissions": ["READ"]}, 422),
        ({"username": "ada", "permissions": ["OWN"]}, 422),
        ({"username": "ada"}, 422),
        ({"username": "ada", "permissions": "READ"}, 422),
        ({"username": "ada", "permissions": ["READ"], "more": 1}, 422),
    ],
)
def test_what_cannot_be_given_is_refused(
    things: Mapping[str, str], ada: Any, admin: APIClient, body: Any, status: int
) -> None:
    answer = admin.put(f"/v1/Workflow/{things['w']}/permissions", body, format="json")

    assert answer.status_code == status, answer.content
    assert admin.get(f"/v1/Workflow/{things['w']}/permissions").json() == []
