"""Tests of mail steps against a real SMTP server, and into a folder."""

import socket
from email import message_from_bytes
from email.policy import default

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink

from runners.modules import registry
from runners.modules.base import StepError
from runners.states import ErrorType
from tests.support.module_fixtures import KEY
from valkyr_project.embedded.child import free_port

MAIL = {
    "from": "Shop <shop@example.com>",
    "to": ["ann@example.com", "Bob <bob@example.com>"],
    "bcc": "eve@example.com",
    "replyTo": "help@example.com",
    "subject": "Grüße",
    "text": "Your order is on its way.",
    "html": "<p>Your order is on its way.</p>",
}


class PostOffice(Sink):
    """Stores the messages that it receives; rejects the recipients that the test names."""

    def __init__(self):
        super().__init__()
        self.envelopes = []
        self.refusals = {}

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address in self.refusals:
            return self.refusals[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        self.envelopes.append(envelope)
        return "250 OK"


@pytest.fixture
def post_office(monkeypatch):
    office = PostOffice()
    port = free_port()
    controller = Controller(office, hostname="127.0.0.1", port=port)
    controller.start()
    monkeypatch.setenv("VALKYR_EMAIL_URL", f"smtp://127.0.0.1:{port}")
    yield office
    controller.stop()


def send(context, **changes):
    return registry.get("email.send").run({**MAIL, **changes}, context).outputs


def test_a_mail_arrives_with_all_it_should_have(post_office, step_context):
    answer = send(step_context)

    (envelope,) = post_office.envelopes
    message = message_from_bytes(envelope.content, policy=default)
    assert envelope.rcpt_tos == ["ann@example.com", "bob@example.com", "eve@example.com"]
    assert message["Subject"] == "Grüße"
    assert message["Reply-To"] == "help@example.com"
    assert message["Date"]
    assert "eve" not in envelope.content.decode()
    assert message.get_body(("plain",)).get_content().strip() == MAIL["text"]
    assert message.get_body(("html",)).get_content().strip() == MAIL["html"]
    assert answer["accepted"] == envelope.rcpt_tos


def test_every_attempt_carries_the_same_message_id(post_office, step_context):
    ids = {send(step_context)["messageId"] for _ in range(2)}

    assert ids == {f"<{KEY}@example.com>"}
    assert {e.content.decode().count(KEY) for e in post_office.envelopes} == {1}


def test_a_refused_address_beside_accepted_ones_is_told(post_office, step_context):
    post_office.refusals["bob@example.com"] = "550 unknown here"

    answer = send(step_context)

    assert answer["refused"] == {"bob@example.com": "550 unknown here"}
    assert answer["accepted"] == ["ann@example.com", "eve@example.com"]


@pytest.mark.parametrize(
    ("answer", "error_type"),
    [("550 unknown here", ErrorType.PERMANENT), ("451 later", ErrorType.TRANSIENT)],
)
def test_refusing_everybody_fails_by_the_servers_code(
    post_office, step_context, answer, error_type
):
    post_office.refusals["ann@example.com"] = answer

    with pytest.raises(
        StepError, match=f"SMTPRecipientsRefused: ann@example.com: {answer}"
    ) as caught:
        send(step_context, to="ann@example.com", bcc=[])

    assert caught.value.error_type == error_type


def test_a_server_that_is_away_may_be_tried_again(monkeypatch, step_context):
    monkeypatch.setenv("VALKYR_EMAIL_URL", "smtp://127.0.0.1:1")

    with pytest.raises(StepError, match=r"mail server 127\.0\.0\.1:1: ConnectionRefused") as caught:
        send(step_context)

    assert caught.value.error_type == ErrorType.TRANSIENT


def test_a_silent_server_ends_at_the_deadline(monkeypatch, make_context):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("VALKYR_EMAIL_URL", f"smtp://127.0.0.1:{silent.getsockname()[1]}")

        with pytest.raises(StepError, match="timed out") as caught:
            send(make_context(seconds=0.2))

    assert caught.value.error_type == ErrorType.TRANSIENT


def test_a_password_is_not_sent_in_the_clear(post_office, monkeypatch, step_context):
    monkeypatch.setattr("valkyr_plugins.connectors.mail.delivery.LOOPBACK", frozenset())
    url = f"smtp://ann:secret@127.0.0.1:{_port()}"
    monkeypatch.setenv("VALKYR_EMAIL_URL", url)

    with pytest.raises(StepError, match="offers no STARTTLS") as caught:
        send(step_context)

    assert "secret" not in caught.value.message
    assert post_office.envelopes == []


def _port():
    import os

    return os.environ["VALKYR_EMAIL_URL"].rpartition(":")[2]


def test_a_folder_takes_mail_as_files_and_a_repeat_replaces_it(tmp_path, monkeypatch, step_context):
    folder = tmp_path / "out box"
    monkeypatch.setenv("VALKYR_EMAIL_URL", f"file://{str(folder).replace(' ', '%20')}")

    send(step_context)
    send(step_context)

    (file,) = folder.iterdir()
    assert file.name == f"{KEY}.eml"
    assert message_from_bytes(file.read_bytes(), policy=default)["To"] == (
        "ann@example.com, Bob <bob@example.com>"
    )


@pytest.mark.parametrize(
    "url", ["", "ftp://host", "smtp:///", "file://relative/path", "smtp://host:no", "mail"]
)
def test_a_setting_that_is_none_is_explained_and_not_quoted(url, monkeypatch, step_context):
    monkeypatch.setenv("VALKYR_EMAIL_URL", url)

    with pytest.raises(StepError, match="VALKYR_EMAIL_URL") as caught:
        send(step_context)

    assert "smtp://user:password@host:587" in caught.value.message
    assert not url or url not in caught.value.message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("to", "nobody"),
        ("to", []),
        ("to", ["a@b.example\nBcc: eve@example.com"]),
        ("from", "Shop"),
        ("from", "a@"),
        ("subject", "Hello\nBcc: eve@example.com"),
        ("replyTo", "x\r\ny@example.com"),
        ("cc", "a@example.com, b@example.com"),
    ],
)
def test_addresses_and_subjects_cannot_smuggle_headers(key, value):
    (problem,) = registry.specs()["email.send"].check({**MAIL, key: value})

    assert problem.pointer[0] == key
