"""Vault's secrets are read once per lease in each process, renewed, and read again, over real
HTTP.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from executions import credentials
from executions.credentials import KINDS, CredentialSource, Issued, issuing
from executions.credentials.kinds import InvalidCredential, checked
from executions.egress.rules import EgressRules
from runners.modules.base import StepError
from runners.modules.egress import ruled_by
from runners.states import ErrorType
from tests.support.issuing import IssuingServer
from tests.support.waiting import wait_until
from valkyr_plugins.short_lived import requests, vault

PATH = "/v1/database/creds/app"


def source(server: IssuingServer, **more: str) -> CredentialSource:
    fields = {"address": server.url, "path": "database/creds/app", "auth": "token"}
    fields |= {"token": "root-token"} | more
    return CredentialSource(uuid4(), "db", 1, uuid4(), fields)


def read(one: CredentialSource) -> Issued:
    return credentials.issued(one, vault.issue)[0]


def test_a_secret_is_read_once_for_its_lease(server: IssuingServer) -> None:
    one = source(server, namespace="team-a")

    first, again = credentials.issued(one, vault.issue), credentials.issued(one, vault.issue)

    assert first[0].fields == {
        "token": "secret-number-1", "username": "v-role", "password": "p@ss/word", "n": "1",
    }  # fmt: skip
    assert (first[1], again) == (True, (first[0], False))
    assert server.asked == [("GET", PATH)]
    assert server.headers[0]["x-vault-token"] == "root-token"
    assert server.headers[0]["x-vault-namespace"] == "team-a"


def test_concurrent_steps_read_it_once(server: IssuingServer) -> None:
    one = source(server)
    server.held.clear()
    with ThreadPoolExecutor(8) as threads:
        asking = [threads.submit(read, one) for _ in range(8)]
        wait_until(lambda: server.count(PATH) > 0, 10, "a request for the secret")
        server.held.set()
        found = {values.result().fields["token"] for values in asking}

    assert found == {"secret-number-1"}
    assert server.count(PATH) == 1


def test_an_ending_lease_is_renewed(server: IssuingServer) -> None:
    server.lease, server.renewable, server.renews_for = 1, True, 3600
    one = source(server)
    first = read(one)
    _wait_for_margin(1)

    second = read(one)

    assert second.fields == first.fields
    assert server.asked[1:] == [("PUT", "/v1/sys/leases/renew")]
    assert '"lease_id": "lease-1"' in server.bodies[1]
    assert read(one) is second


@pytest.mark.parametrize("renewable", [True, False])
def test_a_lease_that_is_not_extended_is_read_again(server: IssuingServer, renewable: bool) -> None:
    server.lease, server.renewable, server.renews_for = 1, renewable, 0
    one = source(server)
    read(one)
    _wait_for_margin(1)

    assert read(one).fields["token"] == "secret-number-2"
    assert server.count(PATH) == 2


def test_while_vault_is_down_a_valid_secret_is_used(
    server: IssuingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuing, "SHARE", 0.999)
    server.lease = 60
    one = source(server)
    first = read(one)
    _wait_for_margin(60)
    server.status = 503

    assert read(one) is first
    assert server.count(PATH) == 2
    assert read(one) is first  # and Vault gets no request per step
    assert server.count(PATH) == 2


def test_a_forgotten_secret_is_read_again_once(server: IssuingServer) -> None:
    one = source(server)
    first = read(one)

    credentials.forget(one, first)
    second = read(one)
    credentials.forget(one, first)  # by another step, which had the first too

    assert read(one) is second
    assert second.fields["token"] == "secret-number-2"


def test_a_changed_credential_is_read_anew(server: IssuingServer) -> None:
    one = source(server)
    read(one)

    read(CredentialSource(one.id, one.name, 2, one.workspace_id, one.fields))

    assert server.count(PATH) == 2


def test_a_worker_signs_in_by_approle_and_keeps_its_token(server: IssuingServer) -> None:
    server.lease = 1
    one = source(server, auth="approle", role_id="r", secret_id="the-secret-id", mount="apps")
    read(one)
    _wait_for_margin(1)
    read(one)

    assert [path for _, path in server.asked] == ["/v1/auth/apps/login", PATH, PATH]
    assert '"secret_id": "the-secret-id"' in server.bodies[0]
    assert server.headers[1]["x-vault-token"] == "client-token-1"


def test_a_revoked_client_token_is_replaced_once(server: IssuingServer) -> None:
    server.lease = 1
    one = source(server, auth="approle", role_id="r", secret_id="the-secret-id")
    read(one)
    server.client_tokens.clear()
    _wait_for_margin(1)

    assert read(one).fields["token"] == "secret-number-2"
    login = "/v1/auth/approle/login"
    assert [path for _, path in server.asked] == [login, PATH, PATH, login, PATH]


def test_a_worker_signs_in_with_its_kubernetes_token_only_where_an_operator_allows(
    server: IssuingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("jwt-of-the-pod\n")
    monkeypatch.setenv("VALKYR_VAULT_KUBERNETES_TOKEN_FILE", str(file))
    one = source(server, auth="kubernetes", role="valkyr")

    with pytest.raises(StepError, match="VALKYR_VAULT_KUBERNETES_ADDRESSES") as caught:
        read(one)
    assert caught.value.error_type is ErrorType.PERMANENT
    assert server.asked == []

    monkeypatch.setenv("VALKYR_VAULT_KUBERNETES_ADDRESSES", f"https://other.example,{server.url}/")
    assert read(one).fields["token"] == "secret-number-1"
    assert '"jwt": "jwt-of-the-pod"' in server.bodies[0]

    file.unlink()
    with pytest.raises(StepError, match="cannot be read"):
        read(source(server, auth="kubernetes", role="valkyr"))


def test_fields_of_the_key_value_engine_are_read(server: IssuingServer) -> None:
    server.kv = {"data": {"token": "of-the-kv-engine"}, "metadata": {"version": 3}}
    values = read(source(server, path="/secret/data/shop"))

    assert values.fields == {"token": "of-the-kv-engine"}
    assert values.seconds == vault.KEPT_SECONDS
    server.kv = {"data": {}, "metadata": {}}
    with pytest.raises(StepError, match="no fields at secret/shop"):
        read(source(server, path="secret/shop"))


def test_values_that_are_not_text_become_json(server: IssuingServer) -> None:
    secret = {"user": "a", "port": 5432, "tls": True, "hosts": ["x", "y"], "old": None}
    server.kv = {"data": secret, "metadata": {"version": 1}}
    values = read(source(server, path="secret/data/shop", url="postgresql://{user}@h:{port}/s"))

    assert values.fields == {
        "user": "a", "port": "5432", "tls": "true", "hosts": '["x", "y"]',
        "url": "postgresql://a@h:5432/s",
    }  # fmt: skip


def test_a_url_is_made_of_the_secret(server: IssuingServer) -> None:
    url = "postgresql://{username}:{password}@db.example.com:5432/shop"

    assert read(source(server, url=url)).fields["url"] == (
        "postgresql://v-role:p%40ss%2Fword@db.example.com:5432/shop"
    )
    with pytest.raises(StepError, match=r"names \{user\}, but Vault's secret has only"):
        read(source(server, url="postgresql://{user}@db/shop"))


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [
        (403, ErrorType.PERMANENT, "policy does not let this credential read database/creds/app"),
        (404, ErrorType.PERMANENT, "There is nothing at database/creds/app"),
        (503, ErrorType.TRANSIENT, r"answered 503 \(no such thing\)"),
    ],
)
def test_errors_say_what_failed_and_what_to_do(
    server: IssuingServer, status: int, kind: ErrorType, says: str
) -> None:
    server.status = status

    with pytest.raises(StepError, match=says) as caught:
        read(source(server))

    assert caught.value.error_type is kind
    assert f"GET {server.url}{PATH} answered {status}" in caught.value.message


def test_a_server_that_does_not_answer_is_a_timeout(
    server: IssuingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "SECONDS", 0.3)
    server.held.clear()

    with pytest.raises(StepError, match="ReadTimeout") as caught:
        read(source(server))

    assert caught.value.error_type is ErrorType.TIMEOUT


def test_a_rejected_sign_in_names_the_fields(server: IssuingServer) -> None:
    with pytest.raises(StepError, match="by approle: check the credential's fields") as caught:
        read(source(server, auth="approle", role_id="wrong", secret_id="the-secret-id"))

    assert "invalid role" in caught.value.message
    assert "the-secret-id" not in caught.value.message


def test_egress_rules_and_private_addresses_apply(
    server: IssuingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = EgressRules(("api.example.com",), True, "shop", uuid4())

    with ruled_by(lambda: rules), pytest.raises(StepError, match="does not allow connections"):
        read(source(server))
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "")
    with pytest.raises(StepError, match="private or special address"):
        read(source(server))
    assert server.asked == []


GOOD = {"address": "https://vault.example.com:8200", "path": "database/creds/app"}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"auth": "ldap"}, "fields.auth"),
        ({"auth": "token"}, "fields.token"),
        ({"auth": "approle", "role_id": "r"}, "fields.secret_id"),
        ({"auth": "kubernetes"}, "fields.role"),
        (
            {"auth": "token", "token": "hvs.123456", "address": "http://vault.example.com"},
            "fields.address",
        ),
        ({"auth": "token", "token": "hvs.123456", "address": "https://"}, "fields.address"),
        ({"auth": "token", "token": "hvs.123456", "other": "unknown"}, "fields.other"),
    ],
)
def test_fields_that_do_not_fit_are_rejected(fields: dict[str, str], path: str) -> None:
    with pytest.raises(InvalidCredential) as caught:
        checked("vault", "db", GOOD | fields)

    assert [problem.path for problem in caught.value.problems] == [path]


def test_good_fields_are_kept() -> None:
    assert checked("vault", "db", GOOD | {"auth": "kubernetes", "role": "valkyr"})
    assert KINDS["vault"].issuer is not None


def _wait_for_margin(seconds: float) -> Any:
    """Wait until a lease of these seconds is near its end, less the reserved share."""
    until = time.monotonic() + seconds * (1 - issuing.SHARE) + 0.01
    wait_until(lambda: time.monotonic() >= until, seconds + 10, "the margin before the end")
