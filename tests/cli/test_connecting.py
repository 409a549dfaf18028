"""The installation and the user to which a command belongs, and the messages if its call fails."""

import json
import os
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from executions.models import ApiToken
from tests.cli.conftest import PASSWORD, Installation, Valkyr
from valkyr.cli.client import ApiClient, StreamEvent


@contextmanager
def other_server(status: int, body: str) -> Iterator[tuple[str, list[str | None]]]:
    """Run a server that is not Valkyr; yield its address, and the Authorization of each request."""
    heard: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("Authorization"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def config() -> Path:
    return Path(os.environ["VALKYR_CONFIG"])


def error_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)["error"]
    return found


def test_without_an_installation_it_says_how_to_name_one(offline: Valkyr) -> None:
    said = offline("list")

    assert (said.code, said.out) == (2, "")
    assert "valkyr login" in said.err


def test_an_address_where_nothing_listens_is_unreachable(offline: Valkyr) -> None:
    said = offline("list", "--url", "http://127.0.0.1:1", "--json")

    assert said.code == 3
    assert error_of(said.err)["code"] == "unreachable"


@pytest.mark.parametrize(("status", "body"), [(404, "<h1>Not here</h1>"), (200, "<h1>Hi</h1>")])
def test_an_address_of_something_else_is_told_apart(
    offline: Valkyr, status: int, body: str
) -> None:
    with other_server(status, body) as (url, _):
        said = offline("list", "--url", url)

    assert said.code == 3
    assert "before /v1" in said.err


def test_a_wrong_path_of_ours_is_told_apart_from_a_wrong_id(
    valkyr: Valkyr, installation: Installation
) -> None:
    said = valkyr("list", "--url", f"{installation.url}/nope")

    assert said.code == 5
    assert "before /v1" in " ".join(said.err.split())


def test_no_address_at_all_is_a_mistake_of_the_caller(offline: Valkyr) -> None:
    assert offline("list", "--url", "valkyr.example.com").code == 2


def test_a_token_that_is_wrong_or_missing_is_denied(
    valkyr: Valkyr, installation: Installation
) -> None:
    wrong = valkyr("list", "--token", "vlk_nonsense", "--json")
    valkyr.environment.delenv("VALKYR_TOKEN")
    missing = valkyr("list")

    assert (wrong.code, missing.code) == (4, 4)
    assert error_of(wrong.err)["status"] == 401
    assert "VALKYR_TOKEN" in missing.err


def test_what_a_token_does_not_allow_is_denied(valkyr: Valkyr, echo: Any) -> None:
    made = valkyr("token", "create", "looks only", "--scope", "view", "-q")
    said = valkyr("start", echo.slug, "--input", '{"value": 1}', "--token", made.out.strip())

    assert (made.code, said.code) == (0, 4)


def test_what_is_not_there_is_not_found(valkyr: Valkyr) -> None:
    unknown = valkyr("show", uuid4(), "--json")
    unnamed = valkyr("start", "no such workflow")

    assert (unknown.code, unnamed.code) == (5, 5)
    assert error_of(unknown.err)["status"] == 404
    assert "valkyr workflows" in unnamed.err


def test_a_word_too_many_is_a_mistake_of_the_caller(offline: Valkyr) -> None:
    assert offline("show", "not-an-id").code == 2
    assert offline("no-such-command").code == 2
    assert offline("start", "x", "--input", "{").code == 2


def test_a_mistake_of_the_caller_is_json_where_that_is_asked_for(offline: Valkyr) -> None:
    said = offline("show", "not-an-id", "--json")

    error = error_of(said.err)
    assert (error["code"], error["exitCode"]) == ("usage", 2)
    assert "valkyr show --help" in error["hint"]


def test_login_makes_a_token_and_a_profile_that_only_its_owner_reads(
    offline: Valkyr, installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    typed = tmp_path / "password"
    typed.write_text(f"{PASSWORD}\n")
    with typed.open() as password:
        monkeypatch.setattr("sys.stdin", password)
        words = ("--url", installation.url, "--username", "ann", "--password-stdin", "--days", 3)
        signed_in = offline("login", *words)
    kept = tomllib.loads(config().read_text())
    me = offline("whoami", "--json")
    gone = offline("logout")

    assert signed_in.code == 0, signed_in.err
    assert stat.S_IMODE(config().stat().st_mode) == 0o600
    assert kept["profiles"]["default"]["url"] == installation.url
    assert PASSWORD not in str(kept)
    assert json.loads(me.out)["username"] == "ann"
    assert gone.code == 0
    token = ApiToken.objects.get(pk=kept["profiles"]["default"]["token_id"])
    assert token.revoked_at is not None
    assert offline("whoami").code == 2


def test_a_wrong_password_is_denied_and_nothing_is_kept(
    offline: Valkyr, installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text("wrong\n")
    with (tmp_path / "password").open() as password:
        monkeypatch.setattr("sys.stdin", password)
        words = ("--url", installation.url, "--username", "ann", "--password-stdin")
        said = offline("login", *words)

    assert said.code == 4
    assert not config().exists()


@pytest.mark.plugins
def test_login_sends_the_code_of_a_second_factor(
    offline: Valkyr, installation: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from executions.access.actor import Actor
    from valkyr_plugins.mfa import factors

    ann = get_user_model().objects.get(username="ann")
    factor = factors.begin(ann)
    type(factor).objects.filter(pk=factor.pk).update(confirmed_at=timezone.now())
    code = factors.renew_codes(ann, Actor.system("tests")).recovery_codes[0]
    words = ("--url", installation.url, "--username", "ann", "--password-stdin", "--days", 3)
    said = []
    for lines in (f"{PASSWORD}\n", f"{PASSWORD}\n{code}\n", f"{PASSWORD}\n{code}\n"):
        (tmp_path / "lines").write_text(lines)
        with (tmp_path / "lines").open() as typed:
            monkeypatch.setattr("sys.stdin", typed)
            said.append(offline("login", *words))
    factors.remove(ann, Actor.system("tests"))

    assert [one.code for one in said] == [4, 0, 4]
    assert "has a second factor" in said[0].err
    assert "was used before" in said[2].err


def test_the_command_line_comes_before_the_environment_and_both_before_the_default(
    valkyr: Valkyr, installation: Installation
) -> None:
    with other_server(404, "") as (url, _):
        config().write_text(
            f'default = "other"\n[profiles.other]\nurl = "{url}"\n'
            f'[profiles.ours]\nurl = "{installation.url}"\ntoken = "{installation.token}"\n'
        )
        by_environment = valkyr("whoami")
        by_profile = valkyr("whoami", "--profile", "other")
        valkyr.environment.delenv("VALKYR_URL")
        valkyr.environment.delenv("VALKYR_TOKEN")
        by_default = valkyr("whoami")
        by_name = valkyr("--profile", "ours", "whoami")

    codes = [said.code for said in (by_environment, by_profile, by_default, by_name)]
    assert codes == [0, 3, 3, 0]


def test_a_profiles_token_is_sent_to_its_own_address_only(offline: Valkyr) -> None:
    config().write_text('default = "a"\n[profiles.a]\nurl = "https://a.example"\ntoken = "vlk_a"\n')
    with other_server(404, "") as (url, heard):
        offline("whoami", "--url", url)

    assert heard == [None]


@pytest.mark.parametrize("text", ["default = [", "[profiles.x]\nurl = 3\n", "profiles = 3"])
def test_a_damaged_profile_file_is_named(offline: Valkyr, text: str) -> None:
    config().write_text(text)
    said = offline("list")

    assert said.code == 2
    assert str(config()) in said.err


def test_tokens_are_made_listed_and_revoked(valkyr: Valkyr) -> None:
    made = json.loads(valkyr("token", "create", "ci", "--days", 1, "--json").out)
    listed = json.loads(valkyr("token", "list", "--json").out)
    revoked = valkyr("token", "revoke", made["id"])

    assert made["token"].startswith("vlk_")
    assert made["id"] in {row["id"] for row in listed}
    assert revoked.code == 0
    assert valkyr("whoami", "--token", made["token"]).code == 4


def test_the_fields_of_a_stream_have_the_meaning_of_its_specification() -> None:
    stream = [
        'data: {"a":', "data:1}", "",
        "event: end", "id: 8", "id: 9\0", 'data: {"b": 2}', "",
        "event: lost", "data", "",
        ": still here",
        'data: {"c": 3}', "",
        'data: {"cut": 4}',
    ]  # fmt: skip
    with other_server(200, "\n".join(stream)) as (url, _), httpx.Client(base_url=url) as http:
        heard = list(ApiClient(http).events("/v1/stream", "7", 5.0))

    assert heard == [
        StreamEvent("message", "7", {"a": 1}),
        StreamEvent("end", "8", {"b": 2}),
        StreamEvent("", "", {}),
        StreamEvent("message", "8", {"c": 3}),
    ]
