"""File steps against a server that speaks S3's protocol."""

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import boto3
import pytest

from runners.failures.classification import classify
from runners.modules import registry
from runners.modules.base import StepError
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.counterparts.aws import aws_server

KEYS = {"access_key": "AKIATEST", "secret_key": "very-secret"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Run a local S3 server; yield its address."""
    with aws_server() as url:
        yield url


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[Any]:
    """Create one client for all tests: creating one costs more than most tests here."""
    made = boto3.session.Session().client(
        "s3",
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id="AKIATEST",
        aws_secret_access_key="very-secret",
    )
    yield made
    made.close()


@pytest.fixture
def s3(address: str, client: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield the client, with an empty bucket; the administrator has configured the server."""
    monkeypatch.setenv("VALKYR_S3_ENDPOINT", address)
    client.create_bucket(Bucket="shop")
    yield client
    for version in client.list_object_versions(Bucket="shop").get("Versions", []):
        client.delete_object(Bucket="shop", Key=version["Key"], VersionId=version["VersionId"])
    client.delete_bucket(Bucket="shop")


@pytest.fixture
def step() -> Callable[..., Any]:
    """Return a function that runs a step of a type with the S3 key and returns its outputs."""

    def run(module_type: str, seconds: float = 60, **given: Any) -> Any:
        context = Context(
            execution_id=UUID(int=1),
            step_path="a.main",
            attempt=1,
            idempotency_key="0" * 64,
            seconds=seconds,
            variables={},
        )
        context.credential = KEYS
        result = registry.get(module_type).run(given, context)
        return result.outputs

    return run


def test_what_is_written_can_be_read_with_its_kind_and_mark(s3: Any, step: Any) -> None:
    written = step(
        "file.write", path="s3://shop/a/b.txt", content="Grüße", contentType="text/plain"
    )
    read = step("file.read", path="s3://shop/a/b.txt")

    assert s3.get_object(Bucket="shop", Key="a/b.txt")["Body"].read() == "Grüße".encode()
    assert (read["content"], read["bytes"], read["size"]) == ("Grüße", 7, 7)
    assert read["contentType"] == "text/plain"
    assert written["etag"] == read["etag"] != ""
    assert read["modified"] is not None


def test_a_range_is_read_and_one_past_the_end_is_empty(s3: Any, step: Any) -> None:
    s3.put_object(Bucket="shop", Key="n", Body=b"0123456789")

    middle = step("file.read", path="s3://shop/n", start=3, length=4)
    rest = step("file.read", path="s3://shop/n", start=8)
    past = step("file.read", path="s3://shop/n", start=99)

    assert (middle["content"], middle["size"]) == ("3456", 10)
    assert rest["content"] == "89"
    assert (past["content"], past["size"]) == ("", 10)


def test_an_object_past_the_cap_is_refused_before_it_is_received(s3: Any, step: Any) -> None:
    s3.put_object(Bucket="shop", Key="large", Body=b"x" * 3_000_000)

    with pytest.raises(StepError, match=r"more than 1000 bytes \(maxBytes\)"):
        step("file.read", path="s3://shop/large", maxBytes=1000)


def test_creating_refuses_another_object_but_not_its_own(s3: Any, step: Any) -> None:
    for _ in range(2):
        step("file.write", path="s3://shop/once", content="mine", mode="create")

    with pytest.raises(StepError, match="already exists with different content"):
        step("file.write", path="s3://shop/once", content="other", mode="create")
    assert s3.get_object(Bucket="shop", Key="once")["Body"].read() == b"mine"


def test_a_folder_is_listed_by_its_own_entries_or_whole(s3: Any, step: Any) -> None:
    for key in ("o/a.csv", "o/b.txt", "o/deep/c.csv", "other/d.csv"):
        s3.put_object(Bucket="shop", Key=key, Body=key.encode())

    def paths(**given: Any) -> list[str]:
        found = step("file.list", **given)
        return [entry["path"].removeprefix("s3://shop/") for entry in found["entries"]]

    assert paths(path="s3://shop/o") == ["o/a.csv", "o/b.txt", "o/deep"]
    assert paths(path="s3://shop/o", recursive=True) == ["o/a.csv", "o/b.txt", "o/deep/c.csv"]
    assert paths(path="s3://shop", pattern="**/*.csv") == ["o/a.csv", "o/deep/c.csv", "other/d.csv"]
    assert paths(path="s3://shop/o/", pattern="*.csv") == ["o/a.csv"]
    (first, *_) = step("file.list", path="s3://shop/o")["entries"]
    assert (first["bytes"], first["kind"]) == (7, "file")


def test_a_listing_goes_on_past_a_page(s3: Any, step: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("valkyr_plugins.connectors.files.s3.store.PAGE", 2)
    for number in range(5):
        s3.put_object(Bucket="shop", Key=f"p/{number}", Body=b"")

    assert step("file.list", path="s3://shop/p")["count"] == 5
    with pytest.raises(StepError, match="maxEntries"):
        step("file.list", path="s3://shop/p", maxEntries=3)


def test_deleting_tells_whether_there_was_something(s3: Any, step: Any) -> None:
    s3.put_object(Bucket="shop", Key="gone", Body=b"x")

    assert step("file.delete", path="s3://shop/gone")["deleted"] is True
    assert step("file.delete", path="s3://shop/gone")["deleted"] is False
    with pytest.raises(StepError, match="there is no file"):
        step("file.delete", path="s3://shop/gone", missingOk=False)


def test_what_is_missing_is_named_without_the_key(s3: Any, step: Any) -> None:
    for path in ("s3://shop/none", "s3://nowhere/none"):
        with pytest.raises(StepError, match=rf"there is no file {path} at 127") as error:
            step("file.read", path=path)
        failure = classify(error.value)
        assert failure.error_type is ErrorType.PERMANENT
        assert "very-secret" not in failure.message + failure.traceback


def test_the_administrators_server_may_be_private_but_a_steps_own_may_not(
    s3: Any, address: str, step: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.put_object(Bucket="shop", Key="k", Body=b"x")

    assert step("file.read", path="s3://shop/k")["content"] == "x"
    for named in (address, address.replace("127.0.0.1", "localhost")):
        with pytest.raises(StepError, match="a private or special address"):
            step("file.read", path="s3://shop/k", endpoint=named)

    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    assert step("file.read", path="s3://shop/k", endpoint=address)["content"] == "x"


def test_without_a_credential_nobody_is_asked_for_keys(
    s3: Any, monkeypatch: pytest.MonkeyPatch, make_plain: Callable[[], Context]
) -> None:
    """Without a credential, an unsigned request is sent: the machine's own keys do not belong to
    workflows.
    """
    s3.put_object(Bucket="shop", Key="public", Body=b"for all", ACL="public-read")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "the-machines")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-machines")

    result = registry.get("file.read").run({"path": "s3://shop/public"}, make_plain())

    assert result.outputs["content"] == "for all"


@pytest.fixture
def make_plain() -> Callable[[], Context]:
    def make() -> Context:
        return Context(
            execution_id=UUID(int=1),
            step_path="a.main",
            attempt=1,
            idempotency_key="0" * 64,
            seconds=60,
            variables={},
        )

    return make


def test_a_silent_server_ends_with_the_steps_time(
    step: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("VALKYR_S3_ENDPOINT", f"http://127.0.0.1:{listening.getsockname()[1]}")

        with pytest.raises(StepError, match="did not answer in time") as error:
            step("file.read", seconds=1, path="s3://shop/k")

    assert classify(error.value).error_type is ErrorType.TIMEOUT


def test_steps_in_threads_share_nothing(s3: Any, step: Any) -> None:
    found: list[str] = []

    def one(number: int) -> None:
        path = f"s3://shop/t/{number}"
        step("file.write", path=path, content=str(number))
        found.append(step("file.read", path=path)["content"])

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(found) == ["0", "1", "2", "3", "4", "5"]


def test_the_circuit_is_the_servers(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = registry.get("file.read")

    def target(**given: Any) -> str | None:
        return module.circuit(module.validated(given))

    assert target(path="a.txt") is None
    assert target(path="s3://shop/k") == "s3:s3.us-east-1.amazonaws.com"
    assert target(path="s3://shop/k", endpoint="https://s3.example.com") == "s3:s3.example.com"
    monkeypatch.setenv("VALKYR_S3_ENDPOINT", address)
    assert target(path="s3://shop/k") == f"s3:{address.removeprefix('http://')}"


def test_a_process_that_was_forked_reads_with_connections_of_its_own(s3: Any, step: Any) -> None:
    """A forked process reads with its own connections, as in prefork workers: the parent's fsspec
    thread does not exist in the child.
    """
    s3.put_object(Bucket="shop", Key="k", Body=b"tea")
    assert step("file.read", path="s3://shop/k")["content"] == "tea"
    reading, writing = os.pipe()

    child = os.fork()
    if child == 0:
        try:
            os.write(writing, step("file.read", path="s3://shop/k")["content"].encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        assert said.read() == b"tea"
    os.waitpid(child, 0)
