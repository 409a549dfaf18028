"""The installation's key in a KMS: a real client, and a server that speaks AWS's protocol."""

import os
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from django.core.management import call_command
from django.db import connection

from executions import credentials, sealing
from executions.access.actor import Actor
from executions.models import Credential, Keyset
from executions.sealing import store
from tests.support.counterparts.aws import aws_server
from tests.support.waiting import wait_until
from tests.support.workflows import default_workspace
from valkyr_project.embedded.child import free_port

pytestmark = pytest.mark.django_db
ANN = Actor(None, "ann", "test")
REGION = "eu-central-1"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Run a local KMS; yield its address."""
    with aws_server() as address:
        yield address


@pytest.fixture(scope="module")
def operator(address: str) -> Iterator[Any]:
    """Yield a client of the KMS, as an operator would have."""
    session = boto3.session.Session("test", "test", region_name=REGION)
    client = session.client("kms", endpoint_url=address)
    wait_until(lambda: answers(client), 60, "moto's answer")
    yield client
    client.close()


@pytest.fixture
def kms(address: str, operator: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the operator's client; this process uses the same service."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    store.forget()
    return operator


def answers(client: Any) -> bool:
    try:
        client.list_keys()
    except (EndpointConnectionError, ClientError):
        return False
    return True


@pytest.fixture
def uri(kms: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Create the key that seals the data keys; return its URI."""
    monkeypatch.delenv("VALKYR_KEY")
    made = new_key(kms)
    monkeypatch.setenv("VALKYR_KEY_URI", made)
    return made


def new_key(kms: Any) -> str:
    return f"aws-kms://{kms.create_key()['KeyMetadata']['Arn']}"


def made() -> Credential:
    workspace = default_workspace()
    return credentials.create(
        workspace,
        name="shop",
        type="secret",
        fields={"value": "of the shop"},
        hosts=["*"],
        actor=ANN,
    )


def read_afresh(credential: Credential) -> dict[str, dict[str, str]]:
    """Read a credential as a process that has just started."""
    store.forget()
    return credentials.values_of(credential.workspace_id, ["shop"])


def test_a_kms_seals_the_data_keys_and_opens_them_again(uri: str) -> None:
    credential = made()

    assert read_afresh(credential) == {"shop": {"value": "of the shop"}}
    assert Keyset.objects.get().key_uri == uri


def test_the_kms_is_asked_once_a_process_and_not_for_each_secret(
    kms: Any, uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    credential = made()
    assert read_afresh(credential)
    monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", f"http://127.0.0.1:{free_port()}")

    credentials.update(credential.pk, fields={"value": "another one"}, actor=ANN)

    found = credentials.values_of(credential.workspace_id, ["shop"])
    assert found == {"shop": {"value": "another one"}}


def test_a_kms_that_does_not_answer_is_named_within_seconds(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    credential = made()
    monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", f"http://127.0.0.1:{free_port()}")

    with pytest.raises(sealing.KeyUnavailable, match="EndpointConnectionError") as error:
        read_afresh(credential)

    assert uri in str(error.value)


def test_a_key_that_does_not_exist_is_named_and_nothing_is_kept(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = uri[:-12] + "0" * 12
    monkeypatch.setenv("VALKYR_KEY_URI", nobody)

    with pytest.raises(sealing.KeyUnavailable, match="NotFoundException") as error:
        made()

    assert nobody in str(error.value)
    assert not Keyset.objects.exists()
    assert not Credential.objects.exists()


def test_another_key_of_the_kms_opens_nothing(
    kms: Any, uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    credential = made()
    monkeypatch.setenv("VALKYR_KEY_URI", new_key(kms))

    with pytest.raises(sealing.WrongInstallationKey, match="another installation key"):
        read_afresh(credential)


def test_an_installation_moves_from_the_environment_to_a_kms_and_back(
    kms: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    credential = made()
    key, uri = os.environ["VALKYR_KEY"], new_key(kms)

    monkeypatch.delenv("VALKYR_KEY")
    monkeypatch.setenv("VALKYR_KEY_OLD", key)
    monkeypatch.setenv("VALKYR_KEY_URI", uri)
    call_command("keys", "rewrap")
    monkeypatch.delenv("VALKYR_KEY_OLD")
    assert read_afresh(credential) == {"shop": {"value": "of the shop"}}
    assert Keyset.objects.get().key_uri == uri

    monkeypatch.delenv("VALKYR_KEY_URI")
    monkeypatch.setenv("VALKYR_KEY_OLD_URI", uri)
    monkeypatch.setenv("VALKYR_KEY", key)
    call_command("keys", "rewrap")
    monkeypatch.delenv("VALKYR_KEY_OLD_URI")
    assert read_afresh(credential) == {"shop": {"value": "of the shop"}}


def test_keys_turn_under_a_kms(uri: str) -> None:
    credential = made()

    for action in ("rotate", "reseal", "retire"):
        call_command("keys", action)

    assert read_afresh(credential) == {"shop": {"value": "of the shop"}}
    credential.refresh_from_db()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT key_id) FROM executions_credential")
        assert cursor.fetchone() == (1,)
