"""Tests of `http.request` with files, bytes and digests: what is sent and what is stored."""

import base64
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.modules import registry
from runners.modules.base import Result, StepError
from runners.secrets.scrubbing import Scrubber
from runners.segment.step_context import Context
from runners.states import ErrorType
from tests.support.counterparts.http import BadServer, bad_server
from tests.support.module_fixtures import KEY
from tests.support.partner import Partner

Send = Callable[..., Any]


@pytest.fixture
def send(step_context: Context) -> Send:
    def request(url: str, **config: Any) -> Any:
        result = registry.get("http.request").run({"url": url, **config}, step_context)
        assert isinstance(result, Result)
        return result.outputs

    return request


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VALKYR_FILES_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def server(partner: Partner) -> Iterator[BadServer]:
    with bad_server() as server:
        yield server


def test_bytes_are_sent_as_they_are(partner: Partner, send: Send) -> None:
    given = base64.b64encode(b"\x00\x01plain").decode()

    send(f"{partner.url}/echo", method="PUT", bodyBase64=given)

    assert partner.received[0]["body"] == "\x00\x01plain"


def test_a_form_with_files_is_sent_alike_by_every_attempt(
    partner: Partner, send: Send, files: Path
) -> None:
    (files / "out").mkdir()
    (files / "out" / "bill.txt").write_text("12 EUR")
    parts = [
        {"name": "title", "value": "Grüße"},
        {"name": "bill", "path": "out/bill.txt"},
        {"name": "raw", "base64": "aGk=", "filename": "raw.bin", "contentType": "x/y"},
    ]

    first = send(f"{partner.url}/echo", method="POST", multipart=parts)["body"]
    again = send(f"{partner.url}/echo", method="POST", multipart=parts)["body"]

    assert first["body"] == again["body"]
    assert first["headers"]["content-type"] == f"multipart/form-data; boundary={KEY[:32]}"
    assert 'name="title"\r\n\r\nGrüße' in first["body"]
    assert 'filename="bill.txt"\r\nContent-Type: text/plain\r\n\r\n12 EUR' in first["body"]
    assert 'filename="raw.bin"\r\nContent-Type: x/y\r\n\r\nhi' in first["body"]


def test_a_body_goes_into_a_file_piece_by_piece(partner: Partner, send: Send, files: Path) -> None:
    answer = send(f"{partner.url}/gzip", saveTo="in/answer.json")

    kept = (files / "in" / "answer.json").read_bytes()
    assert kept == b'{"packed": true}'
    assert (answer["body"], answer["bodyEncoding"]) == (None, "file")
    assert answer["file"] == {
        "path": "in/answer.json",
        "bytes": len(kept),
        "sha256": hashlib.sha256(kept).hexdigest(),
    }


@pytest.mark.parametrize("path", ["cut", "gzip-bomb", "endless"])
def test_a_download_that_fails_leaves_the_file_that_was_there(
    server: BadServer, send: Send, files: Path, path: str
) -> None:
    (files / "kept.txt").write_text("before")

    with pytest.raises(StepError):
        send(f"{server.url}/{path}", saveTo="kept.txt", maxBytes=100_000)

    assert [entry.name for entry in files.iterdir()] == ["kept.txt"]
    assert (files / "kept.txt").read_text() == "before"


def test_only_a_file_may_take_more_than_64_mebibytes() -> None:
    config = {"url": "http://example.com/", "maxBytes": 2**30}

    (problem,) = registry.specs()["http.request"].check(config)

    assert "set saveTo" in problem.message
    assert registry.specs()["http.request"].check(config | {"saveTo": "a"}) == []


def test_a_challenge_is_answered_by_digest_and_the_password_never_sent(
    partner: Partner, step_context: Context, send: Send
) -> None:
    step_context.reveal({"username": "ann", "password": "s3cret-word"}, Scrubber({}))

    answer = send(f"{partner.url}/digest", authentication="digest", method="POST", json={"a": 1})

    assert answer["status"] == 200
    first, second = partner.received
    assert "authorization" not in first["headers"]
    assert second["headers"]["authorization"].startswith('Digest username="ann"')
    assert second["body"] == '{"a": 1}'
    assert "s3cret-word" not in str(partner.received)


def test_digest_needs_a_user_and_a_password(partner: Partner, send: Send) -> None:
    with pytest.raises(StepError, match="needs a credential of type basic") as caught:
        send(f"{partner.url}/digest", authentication="digest")

    assert caught.value.error_type is ErrorType.PERMANENT
    assert partner.received == []
