"""The importer imports no secrets, and names the credentials that a user must create."""

import json
from typing import Any

import pytest

from tests.plugins.n8n.exports import chain, converted, export, node, row, sample, tasks
from valkyr_plugins.n8n.secrecy import scrubbed, secret_name, without_secrets

SECRETS = [
    "xoxb-1234567890-abcdefghij",
    "ghp_abcdefghijklmnopqrstuvwxyz0123",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "xeyJ_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "sk-proj-abcdefghijklmnop1234",
    "123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_token_is_found_wherever_it_stands(secret: str) -> None:
    found = chain(
        node("Set", "set", {"values": {"string": [{"name": "a", "value": f"use {secret} here"}]}}),
        node("Code", "code", {"jsCode": f"const t = '{secret}';"}),
        node("Mail", "emailSend", {"subject": f"={{{{ f('{secret}') }}}}"}),
        node("Note", "stickyNote", {"content": secret}),
    )

    assert secret not in json.dumps([found.definition, found.report.told()])


@pytest.mark.parametrize(
    "name", ["Authorization", "X-Api-Key", "apiKey", "client_secret", "ACCESS_TOKEN", "password"]
)
def test_names_of_secrets_are_known(name: str) -> None:
    assert secret_name(name)


@pytest.mark.parametrize("name", ["maxTokens", "author", "keyword", "channel", "passenger"])
def test_names_that_only_look_alike_are_not(name: str) -> None:
    assert not secret_name(name)


def test_a_written_out_header_becomes_a_credential_to_make() -> None:
    found = converted(sample("branches-that-meet"))

    assert "k3y-0123456789abcdef" not in json.dumps(found.definition)
    assert tasks(found)["charge"]["with"]["headers"]["X-Api-Key"] == (
        "{{ secrets.charge_x_api_key }}"
    )
    assert any("X-Api-Key" in remark for remark in row(found, "Charge").remarks)
    assert found.report.credentials["charge_x_api_key"][0] == "secret"


def test_a_key_in_an_address_becomes_a_credential_to_make() -> None:
    found = chain(node("Get", "httpRequest", {"url": "https://a.example/x?api_key=abcdef123456"}))

    assert (
        tasks(found)["get"]["with"]["url"]
        == "https://a.example/x?api_key={{ secrets.get_api_key }}"
    )


@pytest.mark.parametrize(
    ("kind", "named", "credential"),
    [
        ("httpBasicAuth", "Shop login", ("shop_login", "basic")),
        ("httpBearerAuth", "Ünïque Tøken!", ("unique_tken", "bearer")),
        ("oAuth2Api", "1st account", ("c_1st_account", "bearer")),
    ],
)
def test_credentials_are_named_and_never_imported(
    kind: str, named: str, credential: tuple[str, str]
) -> None:
    found = chain(
        node("Get", "httpRequest", {"url": "https://a.example/", "authentication": "x"}, 4.2,
             credentials={kind: {"id": "17", "name": named}})
    )  # fmt: skip

    assert tasks(found)["get"]["credential"] == credential[0]
    assert found.report.told()["toCreate"]["credentials"] == [
        {"name": credential[0], "type": credential[1], "was": f"{kind} {named}", "nodes": ["Get"]}
    ]


def test_a_placeholder_keeps_fields_but_not_their_secrets() -> None:
    given: Any = {
        "token": "abcdefgh1234",
        "list": [{"name": "password", "value": "hunter2hunter2"}],
        "url": "https://a.example/?token=abcdef123&x=1",
        "user": "ann",
    }

    kept = json.dumps(scrubbed(given))

    assert "ann" in kept
    assert not any(secret in kept for secret in ("abcdefgh1234", "hunter2", "abcdef123"))
    assert without_secrets("https://ann:pass@a.example/").startswith("https://[omitted")


def test_pinned_data_stays_behind() -> None:
    found = converted(export(node("It", "noOp"), pinData={"It": [{"json": {"name": "Ann"}}]}))

    assert "Ann" not in json.dumps(found.definition)
