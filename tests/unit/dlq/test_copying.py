"""Exported failures are safe in any shell, free of secrets, and accurate."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlq.copying.pytest_file import pytest_file
from dlq.copying.requests import (
    curl,
    options_of,
    redacted,
    references,
    request_of,
    requeuing,
    variable,
    word,
)
from tests.support.counterparts.http import BadServer
from tests.support.stack import PROJECT

# Whatever a row of PostgreSQL can store; no NUL.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40)
NASTY = st.sampled_from(
    ["'", '"', "$(id)", "`id`", "${HOME}", "\\", "!!", "\n", "a b", "--data", "@/etc/passwd", "*",
     "~", "; rm -rf /", "[secret:shop.password]", "[secret:key]", "%0a", "{1..3}", "#", "&", ""]
)  # fmt: skip
ANY = st.lists(TEXT | NASTY, max_size=4).map("".join)
VALUES = {"SHOP_PASSWORD": 'it\'s "so" $1 `x`', "KEY": "k\nk"}
QUICK = settings(max_examples=40, deadline=None, derandomize=True)


def _sh(script: str) -> list[str]:
    """Run a script; return the words that its stub received."""
    done = subprocess.run(
        ["sh", "-c", script], env={**VALUES, "PATH": os.environ["PATH"]}, capture_output=True,
        check=True, timeout=30,
    )  # fmt: skip
    assert done.stderr == b""
    return done.stdout.decode().split("\0")[:-1]


def _filled(text: str) -> str:
    for reference in references(text):
        text = text.replace(reference, VALUES[variable(reference)])
    return text


@QUICK
@given(texts=st.lists(ANY, max_size=30))
def test_any_text_is_one_word_of_a_shell_and_references_are_their_values(texts: list[str]) -> None:
    words = " ".join(word(text) for text in texts)

    assert _sh(f"printf '%s\\0' start {words}") == ["start", *map(_filled, texts)]


@QUICK
@given(
    url=ANY, method=ANY, headers=st.dictionaries(ANY, ANY, max_size=3), key=ANY, query=ANY,
    body=st.fixed_dictionaries({"body": ANY}) | st.fixed_dictionaries({"json": ANY})
    | st.fixed_dictionaries({"form": st.dictionaries(ANY, ANY, max_size=2)})
    | st.fixed_dictionaries({"multipart": st.lists(st.fixed_dictionaries(
        {"name": ANY}, optional={"value": ANY, "path": ANY}), min_size=1, max_size=2)}),
)  # fmt: skip
def test_a_command_means_its_options_whatever_the_inputs_hold(
    url: str, method: str, headers: dict[str, str], key: str, query: str, body: dict[str, Any]
) -> None:
    inputs = {"url": url, "method": method, "headers": headers, "query": {"q": query}, **body}
    request = request_of("http.request", inputs)
    assert request is not None
    options = list(options_of(request, key=key))

    stub = "curl() { printf '%s\\0' \"$@\"; }\n"
    words = [part for option in options for part in option if part is not None]

    assert _sh(stub + curl(request, key=key)) == [_filled(part) for part in words]


def test_the_request_is_that_of_the_step() -> None:
    request = request_of(
        "http.request",
        {
            "method": "POST",
            "url": "https://shop.test/orders?page=1#top",
            "query": {"tag": ["a b", "c&d"], "no": None, "yes": True, "n": 2},
            "json": {"amount": 12, "name": "größe"},
            "headers": {"X-Shop": "[secret:shop.number]", "Bad\nHeader": "x", "Evil": "a\r\nb: c"},
            "followRedirects": False,
            "timeoutSeconds": 10,
        },
    )
    assert request is not None

    text = curl(request, key="k1", credential="login", kind="basic")

    assert parse_qsl(urlsplit(request.url).query) == [
        ("page", "1"), ("tag", "a b"), ("tag", "c&d"), ("yes", "true"), ("n", "2"),
    ]  # fmt: skip
    assert request.url.endswith("#top")
    assert request.body is not None
    assert json.loads(request.body) == {"amount": 12, "name": "größe"}
    assert text.startswith("# Set first: SHOP_NUMBER, LOGIN_USERNAME, LOGIN_PASSWORD\n")
    for line in (
        "--request 'POST'", "--max-time '10'", "--header 'X-Shop: '\"$SHOP_NUMBER\"",
        "--header 'Content-Type: application/json'", "--header 'Idempotency-Key: k1'",
        '--user "$LOGIN_USERNAME"\':\'"$LOGIN_PASSWORD"',
    ):  # fmt: skip
        assert line in text, line
    for absent in ("Bad", "Evil", "--location"):
        assert absent not in text


@pytest.mark.parametrize(
    ("module", "inputs", "said"),
    [
        ("graphql.query", {"query": "{ a }", "variables": {"x": 1}}, '"variables": {"x": 1}'),
        ("webhook.post", {"payload": [1]}, "--data-raw '[1]'"),
        ("rss.read", {}, "--request 'GET'"),
        ("http.paginate", {"query": {"limit": 5}}, "?limit=5'"),
        ("http.request", {"method": "PUT", "bodyBase64": "aGk="}, "printf %s 'aGk=' | base64 -d |"),
        ("http.request", {"form": {"a": ["1", "2"]}}, "--data-raw 'a=1&a=2'"),
    ],
)
def test_each_type_that_asks_over_http_is_told(
    module: str, inputs: dict[str, Any], said: str
) -> None:
    request = request_of(module, {"url": "https://api.test/", **inputs})
    assert request is not None
    assert said in curl(request)


@pytest.mark.parametrize(
    ("module", "inputs"),
    [("data.set", {"url": "http://x/"}), ("http.request", None), ("http.request", {"url": 5}),
     ("http.request", [])],
)  # fmt: skip
def test_what_is_no_request_gives_none(module: str, inputs: Any) -> None:
    assert request_of(module, inputs) is None


def test_what_stands_under_a_secrets_name_is_nowhere() -> None:
    inputs = {
        "url": "https://shop.test/",
        "headers": {"Authorization": "Bearer hunter2", "X-Api-Key": "hunter2"},
        "json": {"db": [{"password": "hunter2"}], "access_token": 5, "secret": ""},
    }
    request = request_of("http.request", inputs)
    assert request is not None

    told = curl(request) + pytest_file(
        "http.request", "a.b", inputs, error_type="PERMANENT", exception="X"
    )

    assert "hunter2" not in told
    assert '"$AUTHORIZATION"' in told
    assert redacted(inputs)["json"]["secret"] == ""
    kept = {"password": "[secret:shop.password]"}
    assert redacted(kept) == kept


def test_the_call_that_requeues_takes_its_address_and_token_from_the_shell() -> None:
    from uuid import UUID

    script = 'curl() { printf "%s\\0" "$@"; }\nVALKYR_URL=http://v VALKYR_TOKEN=t\n'

    words = _sh(script + requeuing(f"v1/DeadLetterQueue/{UUID(int=7)}/requeue"))

    assert f"http://v/v1/DeadLetterQueue/{UUID(int=7)}/requeue" in words
    assert "Authorization: Bearer t" in words


@given(path=ANY, inputs=st.dictionaries(ANY, st.recursive(ANY, st.lists), max_size=3), name=ANY)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_no_input_becomes_code_of_the_test(path: str, inputs: dict[str, Any], name: str) -> None:
    text = pytest_file(name, path, inputs, error_type=name, exception=path)

    names: dict[str, Any] = {}
    code = compile(text, "test_it.py", "exec")
    assert set(code.co_names) <= {
        "runners.testing", "failing_module", "STEP", "MODULE", "ERROR_TYPE", "EXCEPTION", "GIVEN",
        "__doc__", next(n for n in code.co_names if n.startswith("test_")),
        "None", "__annotations__",
    }  # fmt: skip
    exec(code, names)
    assert (names["STEP"], names["MODULE"], names["GIVEN"]) == (path, name, redacted(inputs))


def test_generated_tests_run_and_find_the_failure_again(tmp_path: Path) -> None:
    server = BadServer()
    failures = [
        ("http.request", {"url": f"{server.url}/reset", "method": "POST"}, "TRANSIENT", ()),
        ("http.request", {"url": f"{server.url}/endless-error"}, "PERMANENT", ("token",)),
        ("webhook.post", {"url": f"{server.url}/circle", "payload": {"a": "'\""}}, "PERMANENT", ()),
        ("data.json_parse", {"text": "{broken"}, "PERMANENT", ()),
    ]
    for number, (module, inputs, error_type, fields) in enumerate(failures):
        text = pytest_file(
            module, f"step{number}.main", inputs, error_type=error_type, exception="Odd",
            fields=fields,
        )  # fmt: skip
        (tmp_path / f"test_step{number}.py").write_text(text)
    mended = pytest_file("data.json_parse", "ok.main", {"text": "{}"}, error_type="X", exception="")
    (tmp_path / "test_mended.py").write_text(mended)

    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "valkyr_project.pytest_plugin", "-c",
             os.devnull, "--rootdir", str(tmp_path), str(tmp_path)],
            cwd=PROJECT,
            env={
                "PATH": os.environ["PATH"],
                "VALKYR_HTTP_ALLOWED_NETWORKS": "127.0.0.0/8",
                "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",  # no request
            },
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    finally:
        server.stop()

    assert "1 failed, 4 passed" in done.stdout, done.stdout + done.stderr
    assert "data.json_parse succeeded" in done.stdout
