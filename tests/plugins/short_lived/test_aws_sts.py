"""Keys of an AWS role are requested when a step needs them, and kept until just before they end."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.exceptions import ClientError

from executions import credentials
from executions.credentials import KINDS, CredentialSource, Issued, issuing
from executions.credentials.kinds import InvalidCredential, checked
from executions.models import Workspace
from runners.modules.base import ErrorType, StepError
from runners.pipeline import short_lived
from tests.support import credential_steps
from tests.support.counterparts.aws import aws_server
from tests.support.issuing import IssuingServer
from tests.support.segments import run_of
from tests.support.single_thread import World
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, publish, task
from valkyr_plugins.connectors.files.s3 import connection as s3
from valkyr_plugins.short_lived import aws_sts, requests

ROLE = "arn:aws:iam::123456789012:role/shop"
KEYS = {"access_key": "AKIATEST0001", "secret_key": "the-secret-of-the-user"}


def source(server: IssuingServer, **more: str) -> CredentialSource:
    given = {"role_arn": ROLE, "auth": "keys", "endpoint": f"{server.url}/sts"} | KEYS | more
    return CredentialSource(uuid4(), "bucket", 1, uuid4(), given)


def read(one: CredentialSource) -> Issued:
    return credentials.issued(one, aws_sts.issue)[0]


def test_a_signed_request_gets_the_keys_of_the_role(server: IssuingServer) -> None:
    server.external_id = "of-the-shop"
    found = read(source(server, external_id="of-the-shop", region="eu-central-1"))

    assert found.fields == {
        "access_key": "ASIA-secret-number-1",
        "secret_key": "key-secret-number-1",
        "session_token": "token-secret-number-1",
    }
    assert 3590 < found.seconds <= 3600
    sent = server.bodies[0]
    assert "Action=AssumeRole&" in f"{sent}&"
    assert "RoleSessionName=valkyr-bucket" in sent
    assert "DurationSeconds=3600" in sent
    assert "/eu-central-1/sts/aws4_request" in server.headers[0]["authorization"]
    assert KEYS["secret_key"] not in str((server.bodies, server.headers))


def test_the_partner_answers_as_sts_does(server: IssuingServer) -> None:
    client = boto3.session.Session().client(
        "sts",
        endpoint_url=f"{server.url}/sts/",
        region_name="us-east-1",
        aws_access_key_id=KEYS["access_key"],
        aws_secret_access_key=KEYS["secret_key"],
    )
    try:
        found = client.assume_role(RoleArn=ROLE, RoleSessionName="boto", DurationSeconds=900)
    finally:
        client.close()

    assert found["Credentials"]["SessionToken"] == "token-secret-number-1"


def test_concurrent_steps_wait_for_one_request(server: IssuingServer) -> None:
    one = source(server)
    server.held.clear()

    with ThreadPoolExecutor(4) as threads:
        asking = [threads.submit(read, one) for _ in range(4)]
        wait_until(lambda: server.count("/sts/") > 0, 10, "a request for keys")
        server.held.set()
        found = {values.result().fields["session_token"] for values in asking}

    assert found == {"token-secret-number-1"}
    assert server.count("/sts/") == 1


def test_keys_are_replaced_before_they_end(server: IssuingServer) -> None:
    server.lease = 3
    one = source(server)
    first = read(one)
    until = time.monotonic() + first.seconds * (1 - issuing.SHARE) + 0.01
    wait_until(lambda: time.monotonic() >= until, 20, "the margin before the end")

    assert read(one).fields["session_token"] == "token-secret-number-2"


def web_identity(server: IssuingServer) -> CredentialSource:
    given = {"role_arn": ROLE, "auth": "web_identity"}
    return CredentialSource(uuid4(), "bucket", 1, uuid4(), given)


@pytest.fixture
def token_file(server: IssuingServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text(f"{server.web_identity}\n")
    monkeypatch.setenv("VALKYR_AWS_WEB_IDENTITY_TOKEN_FILE", str(file))
    monkeypatch.setenv("VALKYR_AWS_STS_ENDPOINT", f"{server.url}/sts")
    return file


def test_a_web_identity_gets_the_keys_of_an_allowed_role(
    server: IssuingServer, token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_AWS_WEB_IDENTITY_ROLES", ROLE)

    found = read(web_identity(server))

    assert found.fields["access_key"] == "ASIA-secret-number-1"
    assert "Action=AssumeRoleWithWebIdentity" in server.bodies[0]
    assert "authorization" not in server.headers[0]
    # The kubelet replaces the file; each request reads it.
    server.web_identity = "a-newer-token"
    token_file.write_text(server.web_identity)
    assert read(web_identity(server)).fields["access_key"] == "ASIA-secret-number-2"


def test_a_web_identity_is_only_for_roles_that_an_operator_allows(
    server: IssuingServer, token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_AWS_WEB_IDENTITY_ROLES", f"{ROLE}-of-another")

    with pytest.raises(StepError, match=r"may not assume .*VALKYR_AWS_WEB_IDENTITY_ROLES"):
        read(web_identity(server))
    assert server.asked == []


def test_a_missing_token_file_names_the_setting(
    server: IssuingServer, token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_AWS_WEB_IDENTITY_ROLES", ROLE)
    token_file.unlink()

    with pytest.raises(StepError, match="VALKYR_AWS_WEB_IDENTITY_TOKEN_FILE"):
        read(web_identity(server))


@pytest.mark.parametrize(
    ("fields", "error", "kind", "says"),
    [
        ({"secret_key": "another-secret"}, "", ErrorType.PERMANENT, "SignatureDoesNotMatch: No."),
        ({"external_id": "unknown"}, "", ErrorType.PERMANENT, "trust policy does not let"),
        ({}, "Throttling", ErrorType.TRANSIENT, "answered 503"),
    ],
)
def test_errors_say_what_failed_and_what_to_do(
    server: IssuingServer, fields: dict[str, str], error: str, kind: ErrorType, says: str
) -> None:
    server.sts_error = error

    with pytest.raises(StepError, match=says) as caught:
        read(source(server, **fields))

    assert caught.value.error_type is kind
    assert f"POST {server.url}/sts/ answered" in caught.value.message
    assert "the-secret" not in caught.value.message


def test_an_answer_that_is_not_of_sts_is_an_error(server: IssuingServer) -> None:
    # `/api` answers JSON.
    with pytest.raises(StepError, match="Check the credential's region and endpoint"):
        read(source(server, endpoint=f"{server.url}/v1"))


def test_an_sts_that_does_not_answer_is_a_timeout(
    server: IssuingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "SECONDS", 0.3)
    server.held.clear()

    with pytest.raises(StepError, match="ReadTimeout") as caught:
        read(source(server))
    assert caught.value.error_type is ErrorType.TIMEOUT


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"role_arn": "shop"}, "fields.role_arn"),
        ({"auth": "instance"}, "fields.auth"),
        ({"auth": "web_identity"} | KEYS, "fields.access_key"),
        ({"secret_key": ""}, "fields.secret_key"),
        ({"endpoint": "http://sts.example.com"}, "fields.endpoint"),
        ({"region": "Frankfurt"}, "fields.region"),
        ({"duration_seconds": "60"}, "fields.duration_seconds"),
        ({"session_name": "two words"}, "fields.session_name"),
    ],
)
def test_fields_that_do_not_fit_are_rejected(fields: dict[str, str], path: str) -> None:
    given = {"role_arn": ROLE, "auth": "keys"} | KEYS | fields
    with pytest.raises(InvalidCredential) as caught:
        checked("aws_sts", "bucket", {name: text for name, text in given.items() if text})

    assert path in [problem.path for problem in caught.value.problems]


def test_good_fields_are_kept() -> None:
    assert checked("aws_sts", "bucket", {"role_arn": ROLE, "auth": "web_identity"})
    assert KINDS["aws_sts"].issuer is not None
    assert aws_sts._endpoint("", "cn-north-1") == "https://sts.cn-north-1.amazonaws.com.cn/"


@pytest.mark.parametrize(("code", "again"), [("ExpiredToken", True), ("AccessDenied", False)])
def test_keys_that_s3_calls_expired_are_replaced(
    server: IssuingServer, code: str, again: bool
) -> None:
    one = source(server)
    kept = short_lived.ShortLived(one, read(one), is_new=False)
    answer = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    error = s3._refusal(ClientError(answer, "PutObject"), "s3://shop/a", "s3.example.com")

    assert short_lived.forget_rejected([kept], error) is again
    assert server.count("/sts/") == 1
    read(one)
    assert server.count("/sts/") == (2 if again else 1)


@pytest.fixture
def aws() -> Iterator[str]:
    """Run another implementation of STS and S3; yield its address."""
    with aws_server() as url:
        yield url


def test_a_step_writes_to_a_bucket_with_the_keys_of_the_role(
    queue: World, workspace: Workspace, aws: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALKYR_S3_ENDPOINT", aws)
    client = boto3.session.Session().client(
        "s3",
        endpoint_url=aws,
        region_name="us-east-1",
        aws_access_key_id="AKIATEST",
        aws_secret_access_key="very-secret",
    )
    client.create_bucket(Bucket="shop")
    fields: dict[str, Any] = {"role_arn": ROLE, "auth": "keys", "endpoint": aws} | KEYS
    credentials.create(
        workspace, name="bank", type="aws_sts", fields=fields, hosts=["127.0.0.1"], actor=ACTOR
    )
    given = {"path": "s3://shop/a.txt", "content": "Hello"}
    step = task("write", "file.write", credential="bank", retry="none", **{"with": given})

    execution = credential_steps.ran(queue, publish({"tasks": [step]}))

    run = run_of(execution, "write.main")
    assert run.state == "SUCCESS", run.error
    assert client.get_object(Bucket="shop", Key="a.txt")["Body"].read() == b"Hello"
    client.close()
