"""Secrets are removed from results and errors, in their usual encodings."""

import base64
import html
import json
import logging
from urllib.parse import quote, quote_plus

import pytest

from executions.errors import PayloadError
from runners.failures.classification import MAX_MESSAGE_CHARACTERS, classify
from runners.modules.base import StepError
from runners.secrets.scrubbing import Scrubber, scrubbed_logs
from runners.segment.step_context import Context

SECRET = "kö/+ \"q'&<%>\\9f8e7d6c5b4a"
NAME = "[secret:key]"
SCRUB = Scrubber({SECRET: NAME})


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        quote(SECRET, safe="").lower(),
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(SECRET))[3:-3],
        repr(SECRET)[1:-1],
        repr(SECRET.encode())[2:-1],
        html.escape(SECRET),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
    ],
)
def test_a_secret_is_found_in_the_form_in_which_it_comes_back(form: str) -> None:
    assert SCRUB.text(f"before {form} after") == f"before {NAME} after"


@pytest.mark.parametrize("before", ["", "u", "us", "usr", "user:"])
@pytest.mark.parametrize("after", ["", "!", "!!", "!!!"])
def test_a_secret_inside_a_longer_base64_text_is_found(before: str, after: str) -> None:
    encoded = base64.b64encode(f"{before}{SECRET}{after}".encode()).decode()

    left = SCRUB.text(encoded)

    assert NAME in left
    assert len(left.replace(NAME, "")) <= len(before) * 2 + len(after) * 2 + 6


def test_two_secrets_that_overlap_are_both_gone() -> None:
    scrub = Scrubber({"abcdef": "[1]", "defghi": "[2]", "abcdefgh": "[3]"})

    assert scrub.text("xabcdefghix") == "x[3]x"
    assert scrub.text("abcdef defghi") == "[1] [2]"


def test_a_name_that_holds_a_secrets_value_is_not_looked_at_again() -> None:
    scrub = Scrubber({"secret": "[secret:a]", "bcdefg": "[secret:b]"})

    assert scrub.text("bcdefg secret") == "[secret:b] [secret:a]"


def test_values_are_scrubbed_at_any_depth_in_keys_and_in_numbers() -> None:
    scrub = Scrubber({"123456": NAME, "hunter2": NAME})

    assert scrub.value({"hunter2": [{"a": "hunter2!"}, 123456, 0.123456, True, None, 12]}) == {
        NAME: [{"a": f"{NAME}!"}, NAME, f"0.{NAME}", True, None, 12]
    }


def test_what_nests_too_deep_to_be_looked_through_is_refused() -> None:
    deep: list[object] = ["hunter2"]
    for _ in range(300):
        deep = [deep]

    with pytest.raises(PayloadError, match=r"output of step a\.main is nested more"):
        Scrubber({"hunter2": NAME}).value(deep, "output of step a.main")
    assert "hunter2" not in str(Scrubber({"hunter2": NAME}).details(deep))


def test_a_message_that_quotes_only_the_beginning_of_a_secret_loses_it() -> None:
    token = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"
    scrub = Scrubber({token: NAME})

    assert scrub.message(f"{token[:20]!r}… is not an address") == f"'{NAME}'… is not an address"
    assert scrub.text(token[:20]) == token[:20]


def test_the_lines_of_a_key_and_the_password_of_an_address_are_known_too() -> None:
    pem = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEA\n-----END KEY-----"
    scrub = Scrubber({pem: "[pem]", "smtp://ann:s%23cret-pass@mail.example": "[url]"})

    assert scrub.text("line 2: BAQEFAASCBKcwggSjAgEA") == "line 2: [pem]"
    assert scrub.text("login with s#cret-pass or s%23cret-pass") == "login with [url] or [url]"


def test_the_password_of_each_address_in_a_list_is_known() -> None:
    servers = "amqp://a:first-pass-1@one.example//;amqp://a:s%23cret-pass@two.example//"
    scrub = Scrubber({servers: "[url]"})

    assert scrub.text("first-pass-1, s#cret-pass, s%23cret-pass") == "[url], [url], [url]"


def test_an_error_is_scrubbed_before_it_is_cut() -> None:
    padding = "x" * (MAX_MESSAGE_CHARACTERS - 10)
    error = StepError(padding + SECRET, details={"body": [SECRET, {SECRET: (SECRET,)}]})

    failure = classify(error, SCRUB)

    assert failure.message.startswith(padding + NAME[:5])
    assert failure.details == {"body": [NAME, {NAME: [NAME]}]}


def test_what_a_step_says_of_itself_is_scrubbed_before_it_is_cut() -> None:
    told: list[object] = []
    context = Context(
        execution_id=None,  # type: ignore[arg-type]
        step_path="a.main",
        attempt=1,
        idempotency_key="k",
        seconds=1,
        variables={},
    )
    context.mind(cancelled=lambda: False, details=told.append)
    context.reveal({"value": SECRET}, Scrubber({SECRET: NAME, "123456": NAME}))

    long = f"{'y' * 1_995}{SECRET}"
    context.log.info(long, at=SECRET, number=123456, small=12)
    context.heartbeat({"at": SECRET})

    entry = context.log.entries[0]
    assert SECRET[:3] not in entry["message"]
    assert entry["fields"] == {"at": NAME, "number": NAME, "small": 12}
    assert told == [context.told] == [{"at": NAME}]
    assert context.credential == {"value": SECRET}


def test_log_lines_of_the_process_are_scrubbed_while_secrets_are_in_use(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = logging.getLogger("somebody.elses")
    with scrubbed_logs(SCRUB):
        log.warning("GET /?key=%s", quote_plus(SECRET))
        log.warning("two arguments %s %s", *[SECRET])
        try:
            int(SECRET)
        except ValueError:
            log.exception("it failed")
    log.warning("after %s", "all")

    assert [record.getMessage() for record in caplog.records] == [
        f"GET /?key={NAME}",
        "(a log message that could not be formatted)",
        "it failed",
        "after all",
    ]
    assert f"ValueError: invalid literal for int() with base 10: '{NAME}'" in caplog.text
    assert SECRET not in caplog.text
