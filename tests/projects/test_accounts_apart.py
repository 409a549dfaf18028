"""Accounts are in the project's database, and Valkyr's tables in another: no join and no foreign
key connects the two.
"""

from uuid import UUID

import pytest

from tests.projects.conftest import Running
from tests.support.waiting import wait_until

PERSON = (
    'INSERT INTO "staff people" (person_uid, email, team, password, is_superuser, is_staff,'
    " is_active) SELECT gen_random_uuid(), %s, '', password, false, true, true"
    " FROM \"staff people\" WHERE email = 'bob@example.org' RETURNING person_uid"
)


def ours(apart: Running, sql: str, *values: object) -> list[tuple[object, ...]]:
    """Return rows of Valkyr's database."""
    return apart.project.rows(sql, *values, database=f"{apart.project.database}_flows")


def person(apart: Running, name: str) -> str:
    """Create an account without Django, as a member of the workspace; return its key."""
    key = apart.project.rows(PERSON, name)[0][0]
    made = apart.ask("post", "/v1/Membership", json={"username": name, "role": "WORKFLOW"})
    assert made.status_code == 201, made.text
    return str(key)


def test_every_page_of_the_admin_opens(apart: Running) -> None:
    told = apart.project.run("-W", "ignore", "-m", "tests.projects.people.walk").splitlines()

    assert told[:-1] == []


def test_every_periodic_task_is_done(apart: Running) -> None:
    told = apart.project.run("-W", "ignore", "-m", "tests.projects.people.ticks").splitlines()

    assert told[:-1] == []


def test_only_accounts_that_our_rows_name_are_copied_and_no_password(apart: Running) -> None:
    stranger = "stranger@example.org"
    apart.project.rows(PERSON, stranger)
    person(apart, "named@example.org")

    copies = dict(ours(apart, 'SELECT email, password FROM "staff people"'))  # type: ignore[arg-type]

    assert stranger not in copies
    assert str(copies["named@example.org"]).startswith("!copy$")


def test_what_somebody_starts_runs_and_is_theirs(apart: Running) -> None:
    path = f"/v1/WorkflowExecution/{apart.ids['chain']}/execute"
    pk = apart.ask("post", path, json={}, headers={"Idempotency-Key": "1"}).json()["id"]

    def ended() -> bool:
        state = apart.ask("get", f"/v1/WorkflowExecution/{pk}").json()["state"]
        assert state in {"PENDING", "RUNNING", "SUCCESS"}, state
        return bool(state == "SUCCESS")

    with apart.project.worker():
        wait_until(ended, 60, "the execution's success")

    found = ours(apart, "SELECT principal_id FROM executions_workflowexecution WHERE id = %s", pk)
    assert found == [(UUID(apart.ids["ada"]),)]


@pytest.mark.parametrize("change", ["is_active = false", "password = 'another'"])
def test_a_change_of_the_original_counts_at_once_however_it_is_made(
    apart: Running, change: str
) -> None:
    name = f"{change.split(maxsplit=1)[0]}@example.org"
    person(apart, name)
    token = apart.sign_in(name).json()["access"]
    before = apart.ask("get", "/v1/Workflow", token=token).status_code
    apart.project.rows(f'UPDATE "staff people" SET {change} WHERE email = %s', name)
    after = apart.ask("get", "/v1/Workflow", token=token).status_code

    assert (before, after) == (200, 401)


def test_a_programs_account_is_switched_off_where_accounts_are(apart: Running) -> None:
    robot = {"name": "robot", "role": "WORKFLOW"}
    made = apart.ask("post", "/v1/ServiceAccount", json=robot).json()
    body = {"name": "t", "serviceAccountId": made["id"]}
    text = apart.ask("post", "/v1/ApiToken", json=body).json()["token"]
    before = apart.ask("get", "/v1/Workflow", token=text).status_code
    apart.ask("patch", f"/v1/ServiceAccount/{made['id']}", json={"enabled": False})
    after = apart.ask("get", "/v1/Workflow", token=text).status_code
    found = apart.project.rows(
        'SELECT is_active FROM "staff people" WHERE person_uid = %s', made["userId"]
    )

    assert (before, after, found) == (200, 401, [(False,)])


def test_a_deleted_account_takes_its_memberships_with_it(apart: Running) -> None:
    key = person(apart, "leaver@example.org")
    apart.project.run(
        "-c",
        "import django; django.setup(); from tests.projects.people.models import Person;"
        f"Person.objects.get(pk='{key}').delete()",
    )

    held = ours(apart, "SELECT count(*) FROM executions_membership WHERE user_id = %s", key)
    assert held == [(0,)]
    assert ours(apart, 'SELECT count(*) FROM "staff people" WHERE person_uid = %s', key) == [(0,)]


def test_a_workflow_is_shared_with_a_group_of_the_project(apart: Running) -> None:
    name = "guest@example.org"
    key = apart.project.rows(PERSON, name)[0][0]
    apart.ask("post", "/v1/Membership", json={"username": name, "role": "USER"})
    group = apart.project.rows("INSERT INTO auth_group (name) VALUES ('night') RETURNING id")[0][0]
    apart.project.rows(
        'INSERT INTO "staff people_groups" (person_id, group_id) VALUES (%s, %s)', key, group
    )
    path = f"/v1/Workflow/{apart.ids['chain']}"
    token = apart.sign_in(name).json()["access"]
    before = apart.ask("get", path, token=token).status_code
    given = apart.ask(
        "put", f"{path}/permissions", json={"group": "night", "permissions": ["READ"]}
    )
    after = apart.ask("get", path, token=token).status_code
    listed = apart.ask("get", "/v1/Workflow", token=token).json()

    assert given.status_code == 200, given.text
    assert (before, after) == (404, 200)
    assert [row["id"] for row in listed] == [apart.ids["chain"]]
