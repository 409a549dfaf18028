"""Tokens of OAuth 2.0 are shared, refreshed by one process at a time, rotated and sealed."""

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
from django.db import connection

from executions import credentials
from executions.credentials import KINDS, CredentialSource, issuing, rotating
from executions.credentials.kinds import InvalidCredential, checked
from executions.models import Credential, Workspace
from runners.modules.base import StepError
from tests.support.issuing import IssuingServer
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR
from valkyr_plugins.short_lived import oauth2


def keep(workspace: Workspace, server: IssuingServer, **fields: str) -> Credential:
    given = {"token_url": f"{server.url}/token", "client_id": "valkyr"}
    return credentials.create(
        workspace,
        name="bank",
        type="oauth2",
        fields=given | (fields or {"refresh_token": server.refresh_token}),
        hosts=["*"],
        actor=ACTOR,
    )


def fields_of(kept: Credential) -> dict[str, str]:
    return credentials.values_of(kept.workspace_id, ["bank"])["bank"]


def source(kept: Credential, process: int = 0) -> CredentialSource:
    """Return the credential as a process reads it; another version simulates another process's
    memory.
    """
    fields = fields_of(kept)
    return CredentialSource(
        kept.pk, "bank", kept.version + 100 * process, kept.workspace_id, fields
    )


def refreshed(one: CredentialSource) -> credentials.Issued:
    """Return the values that a step of a process gets, requested in the same way as by the
    pipeline.
    """
    return credentials.issued(
        one, lambda given, before: rotating.issue(given, before, oauth2.issue, connection.close)
    )[0]


def test_client_credentials_give_a_token_for_its_time(
    workspace: Workspace, server: IssuingServer
) -> None:
    kept = keep(workspace, server, client_secret="s3cret/+value", scope="read write")
    one = source(kept)

    first = credentials.issued(one, oauth2.issue)
    again = credentials.issued(one, oauth2.issue)

    assert first[0].fields == {"token": "secret-number-1"}
    assert again == (first[0], False)
    assert server.bodies == ["grant_type=client_credentials&scope=read+write"]
    # Basic, with each part form-encoded.
    assert server.headers[0]["authorization"] == "Basic dmFsa3lyOnMzY3JldCUyRiUyQnZhbHVl"
    assert KINDS["oauth2"].rotates is not None
    assert not KINDS["oauth2"].rotates(one.fields)


def test_a_client_may_send_its_secret_in_the_body(
    workspace: Workspace, server: IssuingServer
) -> None:
    kept = keep(workspace, server, client_secret="s3cret-value", client_auth="post")

    credentials.issued(source(kept), oauth2.issue)

    assert "client_id=valkyr&client_secret=s3cret-value" in server.bodies[0]
    assert "authorization" not in server.headers[0]


def test_a_rotated_refresh_token_is_stored_and_other_processes_read_the_token(
    workspace: Workspace, server: IssuingServer
) -> None:
    kept = keep(workspace, server)

    first = refreshed(source(kept))
    other = refreshed(source(kept, process=1))

    assert first.fields == other.fields == {"token": "secret-number-1"}
    assert server.count("/token") == 1
    assert fields_of(kept)["refresh_token"] == server.refresh_token == "refresh-1-token"
    kept.refresh_from_db()
    assert (kept.version, kept.fields) == (1, ["client_id", "refresh_token", "token_url"])
    assert kept.refreshing_until is None
    assert b"secret-number" not in bytes(kept.sealed)


def test_an_ending_token_is_refreshed_with_the_newest_refresh_token(
    workspace: Workspace, server: IssuingServer
) -> None:
    server.lease = 1
    kept = keep(workspace, server)
    one = source(kept)
    refreshed(one)
    _wait(1 - issuing.SHARE)

    second = refreshed(one)  # its own fields have the used refresh token

    assert second.fields == {"token": "secret-number-2"}
    assert "refresh_token=refresh-1-token" in server.bodies[1]
    assert fields_of(kept)["refresh_token"] == "refresh-2-token"


def test_concurrent_processes_use_a_refresh_token_once(
    workspace: Workspace, server: IssuingServer
) -> None:
    kept = keep(workspace, server)
    sources = [source(kept, process) for process in range(4)]
    server.held.clear()

    def ask(one: CredentialSource) -> str:
        try:
            return refreshed(one).fields["token"]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        asking = [threads.submit(ask, one) for one in sources]
        _until_asked(server)
        server.held.set()
        found = {values.result() for values in asking}

    assert found == {"secret-number-1"}
    assert server.count("/token") == 1


def test_a_claim_of_a_process_that_died_ends(
    workspace: Workspace, server: IssuingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = keep(workspace, server)
    monkeypatch.setattr(rotating, "CLAIMED_SECONDS", 1)
    assert rotating._claim(source(kept))

    assert refreshed(source(kept)).fields == {"token": "secret-number-1"}


def test_a_claim_that_stays_is_not_waited_for_indefinitely(
    workspace: Workspace, server: IssuingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = keep(workspace, server)
    monkeypatch.setattr(rotating, "WAIT_SECONDS", 0.3)
    assert rotating._claim(source(kept))

    with pytest.raises(credentials.IssuerBusy):
        refreshed(source(kept))
    assert server.asked == []


def test_a_rejected_token_is_replaced_although_it_has_not_ended(
    workspace: Workspace, server: IssuingServer
) -> None:
    kept = keep(workspace, server)
    one, other = source(kept), source(kept, process=1)
    first, theirs = refreshed(one), refreshed(other)

    credentials.forget(one, first)
    second = refreshed(one)
    credentials.forget(other, theirs)
    third = refreshed(other)

    assert second.fields == third.fields == {"token": "secret-number-2"}
    assert server.count("/token") == 2


def test_a_revoked_refresh_token_says_what_to_do_and_frees_the_claim(
    workspace: Workspace, server: IssuingServer
) -> None:
    kept = keep(workspace, server, refresh_token="another-refresh-token")

    with pytest.raises(StepError, match="connect the credential again") as caught:
        refreshed(source(kept))

    assert f"POST {server.url}/token answered 400 (invalid_grant)" in caught.value.message
    assert "another-refresh-token" not in caught.value.message
    kept.refresh_from_db()
    assert kept.refreshing_until is None


def test_a_refresh_token_that_a_user_sets_meanwhile_stays(
    workspace: Workspace, server: IssuingServer
) -> None:
    kept = keep(workspace, server)
    server.held.clear()

    def ask() -> None:
        try:
            refreshed(source(kept))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(ask)
        _until_asked(server)
        credentials.update(kept.pk, actor=ACTOR, fields={"refresh_token": "set-by-a-user"})
        server.held.set()
        asking.result()

    assert fields_of(kept)["refresh_token"] == "set-by-a-user"


def test_a_changed_credential_drops_the_token_that_it_issued(
    workspace: Workspace, server: IssuingServer
) -> None:
    kept = keep(workspace, server)
    refreshed(source(kept))
    changed = credentials.update(kept.pk, actor=ACTOR, fields={"scope": "read"})

    assert fields_of(changed).keys() == {"token_url", "client_id", "refresh_token", "scope"}
    assert refreshed(source(changed)).fields == {"token": "secret-number-2"}


GOOD = {"token_url": "https://id.example.com/token", "client_id": "valkyr"}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({}, "fields.client_secret"),
        ({"client_secret": "s3cret-value", "client_auth": "jwt"}, "fields.client_auth"),
        (
            {"client_secret": "s3cret-value", "token_url": "http://id.example.com"},
            "fields.token_url",
        ),
    ],
)
def test_fields_that_do_not_fit_are_rejected(fields: dict[str, str], path: str) -> None:
    with pytest.raises(InvalidCredential) as caught:
        checked("oauth2", "bank", GOOD | fields)

    assert [problem.path for problem in caught.value.problems] == [path]


def test_an_answer_without_a_time_is_kept_for_minutes(server: IssuingServer) -> None:
    server.lease = 0
    given = {"token_url": f"{server.url}/token", "client_id": "c", "client_secret": "s3cret-value"}

    found = oauth2.issue(CredentialSource(uuid4(), "bank", 1, uuid4(), given), None)

    assert found.seconds == oauth2.KEPT_SECONDS


def _until_asked(server: IssuingServer) -> None:
    wait_until(lambda: server.count("/token") > 0, 10, "a request for a token")


def _wait(seconds: float) -> None:
    until = time.monotonic() + seconds + 0.01
    wait_until(lambda: time.monotonic() >= until, seconds + 10, "the end of the values")
