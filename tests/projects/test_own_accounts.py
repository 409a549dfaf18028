"""A project's own accounts: a UUID as key, an email address as name, a table with a space."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pyotp
import pytest

from tests.projects.conftest import Running
from tests.projects.people.seed_words import PASSWORD
from tests.support.waiting import wait_until


def test_every_column_that_holds_an_account_has_the_type_of_its_key(people: Running) -> None:
    found = people.project.rows(
        "SELECT table_name, column_name, data_type FROM information_schema.columns "
        "WHERE table_schema = 'public' AND (column_name = ANY(%s)) AND table_name <> ALL(%s)",
        ["user_id", "actor_id", "principal_id", "owner_id", "reviewed_by_id", "created_by_id",
         "author_id", "published_by_id"],
        ["staff people_groups"],
    )  # fmt: skip

    assert {kind for _, _, kind in found} == {"uuid"}
    assert len(found) > 15


def test_an_address_and_a_password_sign_in(people: Running) -> None:
    pair = people.sign_in("bob@example.org").json()
    me = people.ask("get", "/v1/Me", token=pair["access"]).json()
    again = people.ask("post", "/v1/auth/token/refresh", json={"refresh": pair["refresh"]})

    assert (me["userId"], me["username"]) == (people.ids["bob"], "bob@example.org")
    assert again.status_code == 200


def test_a_failed_sign_in_is_recorded_under_the_address(people: Running) -> None:
    refused = people.ask(
        "post", "/v1/auth/token", json={"username": "eve@example.org", "password": "no"}
    )
    rows = people.project.rows(
        "SELECT action FROM executions_activity WHERE actor_name = 'eve@example.org'"
    )

    assert refused.status_code == 401
    assert rows == [("account.sign_in_failed",)]


def test_the_audit_trail_names_the_actor_by_the_accounts_key(people: Running) -> None:
    ada = people.ids["ada"]
    rows = people.ask("get", "/v1/Activity?actor=ada@example.org").json()
    one = people.ask("get", f"/v1/Activity/{rows[0]['id']}").json()

    assert {row["actorId"] for row in rows} == {ada}
    assert one["actorId"] == ada


def test_members_are_named_by_address_or_key(people: Running) -> None:
    bob = people.ids["bob"]
    listed = people.ask("get", f"/v1/Membership?userId={bob}").json()
    wrong = people.ask("get", "/v1/Membership?userId=7")
    twice = people.ask(
        "post", "/v1/Membership", json={"username": "bob@example.org", "role": "USER"}
    )

    assert [row["userId"] for row in listed] == [bob]
    assert wrong.status_code in {400, 422}
    assert twice.status_code == 409


def test_a_programs_account_signs_in_by_its_token_until_it_is_switched_off(
    people: Running,
) -> None:
    made = people.ask(
        "post", "/v1/ServiceAccount", json={"name": "robot", "role": "WORKFLOW"}
    ).json()
    body = {"name": "t", "serviceAccountId": made["id"]}
    text = people.ask("post", "/v1/ApiToken", json=body).json()["token"]
    before = people.ask("get", "/v1/Workflow", token=text).status_code
    people.ask("patch", f"/v1/ServiceAccount/{made['id']}", json={"enabled": False})
    after = people.ask("get", "/v1/Workflow", token=text).status_code

    assert made["username"] == "service.default.robot@valkyr.invalid"
    assert UUID(made["userId"])
    assert (before, after) == (200, 401)


@pytest.mark.parametrize(
    ("column", "value"), [("password", "another"), ("is_active", False), ("is_staff", False)]
)
def test_a_change_of_the_account_by_anybody_ends_its_sessions(
    people: Running, column: str, value: Any
) -> None:
    name = f"{column}@example.org"
    people.project.rows(
        'INSERT INTO "staff people" (person_uid, email, team, password, is_superuser, is_staff,'
        " is_active) SELECT gen_random_uuid(), %s, '', password, false, true, true"
        " FROM \"staff people\" WHERE email = 'bob@example.org'",
        name,
    )
    token = people.sign_in(name).json()["access"]
    before = people.ask("get", "/v1/Me", token=token).status_code
    people.project.rows(f'UPDATE "staff people" SET {column} = %s WHERE email = %s', value, name)
    after = people.ask("get", "/v1/Me", token=token).status_code

    assert (before, after) == (200, 401)


def test_what_somebody_starts_runs_and_is_theirs(people: Running) -> None:
    headers = {"Idempotency-Key": "chain-1"}
    path = f"/v1/WorkflowExecution/{people.ids['chain']}/execute"
    first = people.ask("post", path, json={}, headers=headers)
    again = people.ask("post", path, json={}, headers=headers)
    pk = first.json()["id"]

    def ended() -> bool:
        state = people.ask("get", f"/v1/WorkflowExecution/{pk}").json()["state"]
        assert state in {"PENDING", "RUNNING", "SUCCESS"}, state
        return bool(state == "SUCCESS")

    with people.project.worker():
        wait_until(ended, 60, "the execution's success")

    rows = people.project.rows(
        "SELECT principal_id FROM executions_workflowexecution WHERE id = %s", pk
    )
    assert again.json()["id"] == pk
    assert rows == [(UUID(people.ids["ada"]),)]


def test_a_quota_of_one_member_counts_what_they_start(people: Running) -> None:
    body = {"userId": people.ids["bob"], "resource": "executions", "maxPerHour": 1}
    made = people.ask("post", "/v1/Quota", json=body)
    token = people.sign_in("bob@example.org").json()["access"]
    path = f"/v1/WorkflowExecution/{people.ids['chain']}/execute"
    answers = [people.ask("post", path, json={}, token=token).status_code for _ in range(2)]

    assert made.status_code == 201, made.text
    assert answers[0] in {200, 201, 202}
    assert answers[1] == 429


def test_a_person_and_their_groups_may_be_given_a_workflow(people: Running) -> None:
    path = f"/v1/Workflow/{people.ids['chain']}/permissions"
    body = {"username": "bob@example.org", "permissions": ["READ"]}
    given = people.ask("put", path, json=body)
    listed = people.ask("get", path).json()

    assert given.status_code == 200, given.text
    assert {"username": "bob@example.org", "group": None, "permissions": ["READ"]} in listed


@pytest.mark.parametrize("settings", ["people", "styled"])
def test_every_page_opens_on_two_admin_sites_with_unfold_and_without(
    people: Running, settings: str
) -> None:
    told = people.project.run(
        "-W", "ignore", "-m", "tests.projects.people.walk", "both",
        DJANGO_SETTINGS_MODULE=f"tests.projects.{settings}.settings",
    ).splitlines()  # fmt: skip

    assert told[:-1] == []
    opened = re.fullmatch(r"(\d+) opened", told[-1])
    assert opened is not None
    assert int(opened[1]) > 300


def submit(browser: httpx.Client, address: str, **fields: str) -> httpx.Response:
    """Open a page as a browser does, send its form with these fields, and follow the redirect."""
    browser.get(address).raise_for_status()
    token = {"csrfmiddlewaretoken": browser.cookies["csrftoken"]}
    headers = {"Referer": str(browser.base_url)}
    return browser.post(address, data=token | fields, headers=headers)


def test_a_second_factor_is_set_up_and_asked_for_on_djangos_own_admin(people: Running) -> None:
    name = "twice@example.org"
    people.project.rows(
        'INSERT INTO "staff people" (person_uid, email, team, password, is_superuser, is_staff,'
        " is_active) SELECT gen_random_uuid(), %s, '', password, true, true, true"
        " FROM \"staff people\" WHERE email = 'bob@example.org'",
        name,
    )
    given = {"username": name, "password": PASSWORD}
    options: Any = {"base_url": people.project.address, "follow_redirects": True, "timeout": 120}
    with httpx.Client(**options) as browser:
        submit(browser, "/admin/login/?next=/admin/", **given)
        listed = browser.get("/admin/valkyr_mfa/secondfactor/").text
        assert "/admin/valkyr_mfa/secondfactor/manage/" in listed
        token = {"csrfmiddlewaretoken": browser.cookies["csrftoken"]}
        page = browser.post("/mfa/begin", data=token).text
        found = re.search(r"<code>([A-Z2-7 ]+)</code>", page)
        assert found is not None
        app = pyotp.TOTP(found[1].replace(" ", ""))
        done = submit(browser, "/mfa/confirm", code=app.now())
        assert "The second factor is set up." in done.text
        assert browser.get("/office/").url.path == "/office/"

    with httpx.Client(**options) as browser:
        asked = submit(browser, "/office/login/?next=/office/", **given)
        assert asked.url.path == "/mfa/code"
        assert browser.get("/v1/Me").status_code == 401
        # The app's next code: the one used at set-up is no longer valid.
        opened = submit(
            browser, str(asked.url), code=app.at(datetime.now(UTC) + timedelta(seconds=30))
        )
        assert opened.url.path == "/office/"
        assert browser.get("/v1/Me").json()["username"] == name
