"""Credentials are stored sealed, opened by name, and never shown."""

import json
import logging
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from executions import credentials
from executions.access.actor import Actor
from executions.errors import NotFound, StaleRevision
from executions.models import Activity, Credential, Workflow, WorkflowVersion, Workspace
from executions.sealing import NoInstallationKey, SealBroken
from tests.support.workflows import default_workspace

pytestmark = pytest.mark.django_db
ANN = Actor(None, "ann", "test")
SECRET = "canary-5d1f0c"


@pytest.fixture
def workspace() -> Workspace:
    return default_workspace()


def made(workspace: Workspace, name: str = "shop", **more: Any) -> Credential:
    given: dict[str, Any] = {"type": "secret", "fields": {"value": SECRET}, "hosts": ["*"]} | more
    return credentials.create(workspace, name=name, actor=ANN, **given)


def value_of(credential: Credential) -> dict[str, str]:
    found = credentials.values_of(credential.workspace_id, [credential.name])
    return found[credential.name]


def use(credential: Credential) -> None:
    step = credentials.UsingStep(
        credential.workspace_id, uuid4(), uuid4(), uuid4(), "ask.main", 1, "http.request"
    )
    assert credentials.opened_for(step, [credential.name]).keys() == {credential.name}


def problems_of(error: pytest.ExceptionInfo[credentials.InvalidCredential]) -> set[tuple[str, str]]:
    return {(problem.path, problem.code) for problem in error.value.problems}


def test_what_is_kept_is_opened_by_name_and_unknown_names_are_left_out(
    workspace: Workspace,
) -> None:
    made(workspace)
    made(workspace, "bank", type="basic", fields={"username": "teller", "password": "hunter22"})

    found = credentials.values_of(workspace.pk, ["shop", "bank", "nobody"])

    assert found == {
        "shop": {"value": SECRET},
        "bank": {"username": "teller", "password": "hunter22"},
    }
    assert credentials.values_of(uuid4(), ["shop"]) == {}


def test_many_names_cost_one_query_and_none_costs_none(workspace: Workspace) -> None:
    names = [made(workspace, f"n{i}").name for i in range(5)]
    credentials.values_of(workspace.pk, names)

    with CaptureQueriesContext(
        connection,
    ) as asked:
        credentials.values_of(workspace.pk, names)
    assert len(asked) == 1
    with CaptureQueriesContext(connection) as asked:
        assert credentials.values_of(workspace.pk, []) == {}
    assert len(asked) == 0


def test_a_use_is_noted_once_a_minute(workspace: Workspace) -> None:
    credential = made(workspace)
    assert credential.last_used_at is None

    use(credential)
    credential.refresh_from_db()
    first = credential.last_used_at
    use(credential)
    credential.refresh_from_db()

    assert first is not None
    assert credential.last_used_at == first
    assert credential.version == 1


def test_no_column_and_no_audit_row_holds_the_value(workspace: Workspace) -> None:
    credential = made(workspace)
    credentials.update(credential.pk, fields={"value": SECRET + "2"}, actor=ANN)
    credentials.delete(made(workspace, "gone").pk, actor=ANN)

    rows = [*Credential.objects.values(), *Activity.objects.values()]
    texts = [
        (bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode())
        for row in rows
        for value in row.values()
    ]

    assert len(texts) > 10
    assert not [text for text in texts if SECRET.encode() in text]
    actions = Activity.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == [
        "credential.create",
        "credential.update",
        "credential.create",
        "credential.delete",
    ]


def test_a_value_moved_to_another_row_does_not_open(workspace: Workspace) -> None:
    mine, other = made(workspace), made(workspace, "other")
    Credential.objects.filter(pk=other.pk).update(sealed=mine.sealed)

    with pytest.raises(SealBroken, match="cannot be opened") as error:
        value_of(other)

    assert SECRET not in str(error.value)


def test_an_update_sets_some_fields_and_leaves_the_others(workspace: Workspace) -> None:
    credential = made(
        workspace, type="custom", fields={"user": "someone", "key": "key-one", "old": "old-one"}
    )

    changed = credentials.update(
        credential.pk, fields={"key": "key-two", "old": None, "more": "more-1"}, actor=ANN
    )

    assert value_of(changed) == {"user": "someone", "key": "key-two", "more": "more-1"}
    assert changed.fields == ["key", "more", "user"]
    assert changed.version == 2
    line = Activity.objects.filter(action="credential.update").get()
    assert line.details["set"] == ["key", "more", "old"]


def test_a_value_that_no_longer_opens_can_be_replaced_whole(workspace: Workspace) -> None:
    credential = made(workspace)
    Credential.objects.update(sealed=b"\x01" + bytes(40))

    credentials.update(credential.pk, fields={"value": "a new one"}, actor=ANN)

    assert value_of(credential) == {"value": "a new one"}


def test_a_change_of_another_version_is_refused(workspace: Workspace) -> None:
    credential = made(workspace)
    credentials.update(credential.pk, description="Of the shop.", actor=ANN)

    with pytest.raises(StaleRevision, match="version 2"):
        credentials.update(
            credential.pk, fields={"value": "lost it"}, actor=ANN, expected_version=1
        )
    with pytest.raises(StaleRevision):
        credentials.delete(credential.pk, actor=ANN, expected_version=1)
    with pytest.raises(NotFound):
        credentials.delete(uuid4(), actor=ANN)

    assert value_of(credential) == {"value": SECRET}


def test_a_name_is_taken_once_a_workspace(workspace: Workspace) -> None:
    other = Workspace.objects.create(slug="other", name="Other", tier=workspace.tier)
    made(workspace)

    made(other)
    with pytest.raises(credentials.NameTaken, match="'shop'"):
        made(workspace)

    assert Activity.objects.filter(action="credential.create").count() == 2


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"name": "Shop"}, {("name", "bad_name")}),
        ({"name": "1shop"}, {("name", "bad_name")}),
        ({"name": "shop\n"}, {("name", "bad_name")}),
        ({"name": "s" * 81}, {("name", "bad_name")}),
        ({"type": "nonsense"}, {("type", "unknown_type")}),
        ({"fields": {}}, {("fields.value", "required")}),
        ({"fields": {"value": SECRET, "more": SECRET}}, {("fields.more", "unknown_field")}),
        ({"fields": {"value": "short"}}, {("fields.value", "too_short")}),
        ({"fields": {"value": "x" * 65_537}}, {("fields.value", "too_long")}),
        ({"fields": {"value": None}}, {("fields.value", "not_text")}),
        ({"fields": {"value": 1234567}}, {("fields.value", "not_text")}),
        ({"fields": {"value": [SECRET]}}, {("fields.value", "not_text")}),
        ({"type": "custom", "fields": {}}, {("fields", "count")}),
        (
            {"type": "custom", "fields": {f"f{i}": SECRET for i in range(51)}},
            {("fields", "count")},
        ),
        ({"type": "custom", "fields": {"Bad-Name": SECRET}}, {("fields.Bad-Name", "bad_name")}),
        (
            {"name": "", "type": "basic", "fields": {"username": ""}},
            {
                ("name", "bad_name"),
                ("fields.username", "too_short"),
                ("fields.password", "required"),
            },
        ),
    ],
)
def test_what_cannot_be_kept_is_refused_with_every_problem(
    workspace: Workspace, given: dict[str, Any], expected: set[tuple[str, str]]
) -> None:
    with pytest.raises(credentials.InvalidCredential) as error:
        made(workspace, **given)

    assert problems_of(error) == expected
    assert SECRET not in json.dumps([p.message for p in error.value.problems])
    assert not Credential.objects.exists()


def test_a_users_name_may_be_short_since_it_is_no_secret(workspace: Workspace) -> None:
    teller = {"username": "x", "password": "hunter2"}

    assert value_of(made(workspace, type="basic", fields=teller)) == teller


def test_a_field_that_a_type_needs_cannot_be_taken_away(workspace: Workspace) -> None:
    basic = made(workspace, type="basic", fields={"username": "teller", "password": "hunter22"})
    custom = made(workspace, "own", type="custom", fields={"key": SECRET})

    with pytest.raises(credentials.InvalidCredential) as error:
        credentials.update(basic.pk, fields={"password": None, "pin": "123456"}, actor=ANN)
    assert problems_of(error) == {("fields.password", "required"), ("fields.pin", "unknown_field")}
    with pytest.raises(credentials.InvalidCredential) as error:
        credentials.update(custom.pk, fields={"key": None, "never": None}, actor=ANN)
    assert problems_of(error) == {("fields", "count"), ("fields.never", "unknown_field")}


@pytest.mark.parametrize(
    "reference",
    [
        "{{ secrets.shop }}",
        "{{ secrets.shop.password }}",
        "Bearer {{ secrets . shop }}",
        "{{ secrets['shop'] }}",
        '{{ secrets["shop"] }}',
    ],
)
def test_one_that_a_published_workflow_names_stays(workspace: Workspace, reference: str) -> None:
    credential = made(workspace)
    workflow = published(workspace, {"url": reference})

    with pytest.raises(credentials.CredentialInUse, match="'orders' \\(version 1\\)") as error:
        credentials.delete(credential.pk, actor=ANN)
    assert [p.path for p in error.value.problems] == [f"/v1/Workflow/{workflow.pk}"]

    Workflow.objects.update(archived_at=workflow.created_at)
    credentials.delete(credential.pk, actor=ANN)
    assert not Credential.objects.exists()


def test_the_credential_of_a_task_counts_as_named(workspace: Workspace) -> None:
    credential = made(workspace)
    published(workspace, {"task": {"credential": "shop"}})

    with pytest.raises(credentials.CredentialInUse):
        credentials.delete(credential.pk, actor=ANN)


def test_one_that_only_others_and_older_versions_name_can_go(workspace: Workspace) -> None:
    other = Workspace.objects.create(slug="other", name="Other", tier=workspace.tier)
    published(other, {"url": "{{ secrets.shop }}"})
    workflow = published(workspace, {"a": "{{ secrets.shopping }}", "b": "{{ mysecrets.shop }}"})
    WorkflowVersion.objects.create(
        workflow=workflow, number=2, source={}, definition={"url": "{{ secrets.shop }}"}
    )

    credentials.delete(made(workspace).pk, actor=ANN)

    assert not Credential.objects.exists()


def test_without_an_installation_key_nothing_is_kept(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VALKYR_KEY")

    with pytest.raises(NoInstallationKey, match="VALKYR_KEY_FILE, VALKYR_KEY, VALKYR_KEY_URI"):
        made(workspace)

    assert not Credential.objects.exists()
    assert not Activity.objects.filter(action="credential.create").exists()


def test_no_log_line_and_no_printed_value_shows_the_secret(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        credential = made(workspace)
        credentials.update(credential.pk, fields={"value": SECRET + "-new"}, actor=ANN)
        value_of(credential)

    assert SECRET not in caplog.text
    assert SECRET not in repr(credential)


def published(workspace: Workspace, definition: dict[str, Any]) -> Workflow:
    workflow = Workflow.objects.create(workspace=workspace, name="orders", slug="orders")
    workflow.latest_version = WorkflowVersion.objects.create(
        workflow=workflow, number=1, source={}, definition=definition
    )
    workflow.save()
    workflow.refresh_from_db()
    return workflow
