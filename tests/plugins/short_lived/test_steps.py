"""Steps get short-lived values, which are read again once a receiver rejects them."""

from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from executions import credentials
from executions.models import Credential, CredentialUse, Workspace
from runners.models import Run
from runners.modules.base import StepError
from runners.pipeline import short_lived
from tests.support import credential_steps
from tests.support.issuing import IssuingServer
from tests.support.segments import run_of
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, publish, task

READ = "/v1/database/creds/app"


def keep_vault(workspace: Workspace, server: IssuingServer, **fields: str) -> Credential:
    given = {"address": server.url, "path": "database/creds/app", "auth": "token"}
    return credentials.create(
        workspace,
        name="bank",
        type="vault",
        fields=given | {"token": "root-token"} | fields,
        hosts=[f"127.0.0.1:{server.server_port}"],
        actor=ACTOR,
    )


def asks(server: IssuingServer, **more: Any) -> dict[str, Any]:
    return credential_steps.asks(f"{server.url}/api", **more)


def ran(queue: World, *tasks: dict[str, Any]) -> UUID:
    return credential_steps.ran(queue, publish({"tasks": list(tasks)}))


def everything(execution: UUID) -> str:
    """Return the stored data of an execution's runs."""
    return str(list(Run.objects.filter(execution_id=execution).values()))


def test_steps_share_a_secret_that_no_row_holds(
    queue: World, workspace: Workspace, server: IssuingServer
) -> None:
    keep_vault(workspace, server)

    executions = [ran(queue, asks(server)) for _ in range(3)]

    for execution in executions:
        run = run_of(execution, "ask.main")
        assert run.state == "SUCCESS"
        assert run.outputs["body"] == {"token": "[secret:bank.token]"}
        assert "secret-number" not in everything(execution)
        assert "root-token" not in everything(execution)
    assert server.count(READ) == 1
    assert CredentialUse.objects.filter(allowed=True).count() == 3


def test_a_text_may_name_a_field_of_the_secret(
    queue: World, workspace: Workspace, server: IssuingServer
) -> None:
    keep_vault(workspace, server)
    headers = {"authorization": "Bearer {{ secrets.bank.token }}"}
    given = {"url": f"{server.url}/api", "headers": headers}

    first = ran(queue, task("ask", "http.request", retry="none", **{"with": given}))
    server.valid.clear()
    second = ran(queue, task("ask", "http.request", retry="none", **{"with": given}))

    for execution in (first, second):
        assert run_of(execution, "ask.main").state == "SUCCESS"
        assert "secret-number" not in everything(execution)
    assert server.count(READ) == 2


def test_a_rejected_secret_is_read_again_once(
    queue: World, workspace: Workspace, server: IssuingServer
) -> None:
    keep_vault(workspace, server)
    ran(queue, asks(server))
    server.valid.clear()  # as if the lease had been revoked

    execution = ran(queue, asks(server))

    assert run_of(execution, "ask.main").state == "SUCCESS"
    assert (server.count(READ), server.count("/api")) == (2, 3)
    assert "secret-number" not in everything(execution)


def test_a_new_secret_that_is_rejected_fails_the_step(
    queue: World, workspace: Workspace, server: IssuingServer
) -> None:
    keep_vault(workspace, server)
    server.kv = {"token": "never-accepted"}

    execution = ran(queue, asks(server))

    run = run_of(execution, "ask.main")
    assert run.state == "DLQ"
    assert "answered 401" in run.error
    assert (server.count(READ), server.count("/api")) == (1, 1)
    assert "never-accepted" not in everything(execution)


def test_a_secret_that_is_not_issued_is_a_refused_use_and_names_the_credential(
    queue: World, workspace: Workspace, server: IssuingServer
) -> None:
    keep_vault(workspace, server)
    server.status = 403

    execution = ran(queue, asks(server))

    run, use = run_of(execution, "ask.main"), CredentialUse.objects.get(execution_id=execution)
    assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
    assert 'the values of the credential "bank" could not be fetched' in run.error
    assert f"GET {server.url}{READ} answered 403" in run.error
    assert (use.allowed, use.reason) == (False, run.error)
    assert "root-token" not in everything(execution)


@pytest.mark.parametrize("pool", ["threads", "processes"])
def test_a_thread_holds_no_connection_while_a_server_is_asked(
    queue: World,
    workspace: Workspace,
    server: IssuingServer,
    monkeypatch: pytest.MonkeyPatch,
    pool: str,
) -> None:
    keep_vault(workspace, server)
    ask, held = short_lived._ask, []

    def asked(*given: Any) -> Any:
        held.append(connection.connection is not None)
        return ask(*given)

    monkeypatch.setattr(short_lived, "pool", lambda: pool)
    monkeypatch.setattr(short_lived, "_ask", asked)
    execution = ran(queue, asks(server))

    assert run_of(execution, "ask.main").state == "SUCCESS"
    assert held == [pool == "processes"]


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def of_library(error: Exception) -> Exception:
    """Return an error of SQLAlchemy that wraps an error of the driver."""
    found = RuntimeError("of the library")
    found.orig = error  # type: ignore[attr-defined]
    return found


REJECTED = psycopg.errors.InvalidPassword("password authentication failed")
OTHER = psycopg.errors.UndefinedTable("no such table")


@pytest.mark.parametrize(
    ("error", "rejects"),
    [
        (REJECTED, True),
        (of_library(REJECTED), True),
        (caused(RuntimeError("no"), REJECTED), True),
        (caused(RuntimeError("no"), of_library(REJECTED)), True),
        (OTHER, False),
        (of_library(OTHER), False),
        (caused(RuntimeError("no"), OTHER), False),
        (StepError("no", details={"status": 401}), True),
        (StepError("no", details={"status": 403}), False),
        (StepError("no", details={"code": "ExpiredToken"}), True),
        (StepError("no", details={"code": "NoSuchKey"}), False),
        (StepError("no"), False),
    ],
)
def test_it_is_known_which_errors_mean_that_a_credential_was_rejected(
    error: Exception, rejects: bool
) -> None:
    assert short_lived._rejects(error) is rejects


def test_a_step_gets_an_access_token_and_a_new_one_once_it_is_rejected(
    queue: World, workspace: Workspace, server: IssuingServer
) -> None:
    credentials.create(
        workspace,
        name="bank",
        type="oauth2",
        fields={
            "token_url": f"{server.url}/token", "client_id": "valkyr",
            "refresh_token": server.refresh_token,
        },
        hosts=["*"],
        actor=ACTOR,
    )  # fmt: skip

    first = ran(queue, asks(server))
    server.valid.clear()
    second = ran(queue, asks(server))

    for execution in (first, second):
        assert run_of(execution, "ask.main").state == "SUCCESS"
        assert "secret-number" not in everything(execution)
    assert server.count("/token") == 2
    assert server.refresh_token == "refresh-2-token"


def test_an_update_that_does_not_fit_is_rejected(
    queue: World, workspace: Workspace, server: IssuingServer
) -> None:
    kept = keep_vault(workspace, server)

    with pytest.raises(credentials.InvalidCredential) as caught:
        credentials.update(kept.pk, actor=ACTOR, fields={"auth": "approle"})

    assert {problem.path for problem in caught.value.problems} == {
        "fields.role_id",
        "fields.secret_id",
    }
