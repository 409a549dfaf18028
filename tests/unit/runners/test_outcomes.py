"""Each kind of failure has its class, and every failure can be stored."""

import concurrent.futures
import errno
import json
import smtplib
import socket
import ssl
import subprocess

import httpx
import kombu.exceptions
import psycopg
import psycopg_pool
import pytest
import redis
from billiard.exceptions import SoftTimeLimitExceeded
from django.db import utils as django_errors
from pydantic import BaseModel, ConfigDict, Field

from runners.failures.classification import BY_CLASS, classify
from runners.modules.base import StepError
from runners.secrets.scrubbing import Scrubber
from runners.states import ErrorType


def answered(status, **headers):
    request = httpx.Request("GET", "http://a.example/")
    response = httpx.Response(status, headers=headers, request=request)
    return httpx.HTTPStatusError(f"{status}", request=request, response=response)


def caused(error, cause):
    error.__cause__ = cause
    return error


def made_of(cause):
    """Return an error made as httpcore does it: the cause is the original error, and nothing else
    refers to it.
    """
    return caused(httpx.ConnectError("no"), ConnectionError(cause))


TRANSIENT = [
    httpx.ConnectError("refused"),
    httpx.ConnectTimeout("slow"),
    httpx.PoolTimeout("full"),
    httpx.ReadError("reset"),
    httpx.RemoteProtocolError("cut"),
    answered(408),
    answered(425),
    answered(429),
    answered(500),
    answered(503),
    ConnectionResetError(errno.ECONNRESET, "reset"),
    ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
    BrokenPipeError(),
    socket.gaierror(socket.EAI_AGAIN, "try again"),
    socket.gaierror(socket.EAI_NONAME, "no such name"),
    OSError(errno.ENETUNREACH, "unreachable"),
    OSError(errno.ENOSPC, "disk full"),
    OSError(errno.EMFILE, "too many files"),
    ssl.SSLError("broken"),
    psycopg.errors.SerializationFailure(),
    psycopg.errors.DeadlockDetected(),
    psycopg.errors.LockNotAvailable(),
    psycopg.errors.AdminShutdown(),
    psycopg.errors.CannotConnectNow(),
    psycopg.errors.TooManyConnections(),
    psycopg.errors.DiskFull(),
    psycopg.errors.ReadOnlySqlTransaction(),
    psycopg.OperationalError("server closed the connection unexpectedly"),
    psycopg_pool.PoolTimeout("no connection"),
    django_errors.OperationalError("lost"),
    django_errors.InterfaceError("connection already closed"),
    caused(django_errors.OperationalError("deadlock"), psycopg.errors.DeadlockDetected()),
    redis.exceptions.ConnectionError("gone"),
    redis.exceptions.TimeoutError("slow"),
    redis.exceptions.BusyLoadingError("loading"),
    kombu.exceptions.OperationalError("gone"),
    smtplib.SMTPServerDisconnected("gone"),
    smtplib.SMTPConnectError(421, "busy"),
    smtplib.SMTPDataError(451, "later"),
    smtplib.SMTPRecipientsRefused({"a": (550, b"no"), "b": (451, b"later")}),
    caused(RuntimeError("could not fetch"), ConnectionResetError()),
]
TIMEOUT = [
    TimeoutError(),
    concurrent.futures.TimeoutError(),
    httpx.ReadTimeout("slow"),
    httpx.WriteTimeout("slow"),
    SoftTimeLimitExceeded(),
    subprocess.TimeoutExpired("ls", 3),
    psycopg.errors.QueryCanceled("statement timeout"),
]
PERMANENT = [
    ValueError("no"),
    KeyError("x"),
    Exception(),
    MemoryError(),
    RecursionError(),
    PermissionError(errno.EACCES, "denied"),
    FileNotFoundError(errno.ENOENT, "none"),
    answered(400),
    answered(401),
    answered(404),
    answered(422),
    httpx.UnsupportedProtocol("ftp"),
    httpx.LocalProtocolError("bad header"),
    httpx.TooManyRedirects("circle"),
    ssl.SSLCertVerificationError("self-signed"),
    made_of(ssl.SSLCertVerificationError("self-signed")),
    psycopg.errors.UniqueViolation(),
    psycopg.errors.SyntaxError(),
    psycopg.errors.InsufficientPrivilege(),
    caused(django_errors.IntegrityError("twice"), psycopg.errors.UniqueViolation()),
    caused(django_errors.OperationalError("denied"), psycopg.errors.InvalidPassword()),
    redis.exceptions.ResponseError("wrong type"),
    redis.exceptions.AuthenticationError("who"),
    smtplib.SMTPAuthenticationError(535, "who"),
    smtplib.SMTPSenderRefused(550, b"no", "a"),
    smtplib.SMTPRecipientsRefused({"a": (550, b"no")}),
]


def named(error):
    return f"{type(error).__name__}-{str(error)[:20]}"


@pytest.mark.parametrize("error", TRANSIENT, ids=named)
def test_passing_troubles_are_transient(error):
    assert classify(error).error_type == ErrorType.TRANSIENT


@pytest.mark.parametrize("error", TIMEOUT, ids=named)
def test_what_took_too_long_is_a_timeout(error):
    assert classify(error).error_type == ErrorType.TIMEOUT


@pytest.mark.parametrize("error", PERMANENT, ids=named)
def test_all_else_is_permanent(error):
    assert classify(error).error_type == ErrorType.PERMANENT


@pytest.mark.parametrize("error_type", ErrorType)
def test_a_module_that_knows_better_is_believed(error_type):
    error = StepError("no stock", error_type, retry_after=3.0, details={"sku": 7})

    failure = classify(caused(error, ConnectionError()))

    assert failure.error_type == error_type
    assert (failure.message, failure.retry_after, failure.details) == ("no stock", 3.0, {"sku": 7})
    assert failure.exception == "ConnectionError"


def test_retry_after_of_a_librarys_answer_is_kept():
    assert classify(answered(429, **{"Retry-After": "12"})).retry_after == 12


class Card(BaseModel):
    model_config = ConfigDict(title="Inputs of acme.charge", extra="forbid")

    number: int
    owner: str = Field(max_length=3)


def test_inputs_that_do_not_fit_are_named_by_field_and_never_quoted():
    secret = "4111" * 4
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - pydantic's
        Card.model_validate({"number": f"x{secret}", "owner": secret, "pin": secret})

    failure = classify(caught.value)

    assert failure.error_type == ErrorType.PERMANENT
    assert failure.message.startswith("Inputs of acme.charge do not fit: number: Input should be")
    assert [problem["field"] for problem in failure.details] == ["number", "owner", "pin"]
    assert secret not in repr(failure)


class AwkwardError(Exception):
    def __str__(self):
        raise RuntimeError("not even this")


class Endless(dict):
    """A mapping that contains itself."""


def test_an_error_that_cannot_be_printed_is_still_recorded():
    assert classify(AwkwardError()).message == "AwkwardError (its message could not be read)"


def test_an_error_without_message_is_named():
    assert classify(ZeroDivisionError()).message == "ZeroDivisionError"


def test_messages_and_details_can_be_stored():
    itself = Endless()
    itself["me"] = itself
    error = StepError(
        "a\x00b\ud800" + "x" * 5_000,
        details={"\x00": "\udfff\x00", "nan": float("nan"), "object": object(), "self": itself},
    )

    failure = classify(error)

    assert len(failure.message) == 2_000
    stored = failure.message + json.dumps(failure.details, ensure_ascii=False)
    stored.encode("utf-8")
    assert "\x00" not in stored
    assert failure.details["nan"] == "nan"
    assert failure.details["object"] == "<object>"


def test_large_details_are_cut():
    failure = classify(StepError("big", details=["x" * 1000] * 1000))

    assert len(json.dumps(failure.details)) < 40_000


class AwkwardKey:
    def __str__(self):
        raise RuntimeError("not even this")


@pytest.mark.parametrize("scrub", [None, Scrubber({"k3y-of-acme": "secrets.acme"})])
@pytest.mark.parametrize("details", [{"n": 10**5_000}, {AwkwardKey(): 1}, [{"a": 10**5_000}]])
def test_details_that_cannot_be_written_are_omitted(details, scrub):
    failure = classify(StepError("k3y-of-acme is wrong", details=details), scrub)

    assert failure.details.startswith("The details were omitted: they could not be written as JSON")
    assert failure.message.endswith("is wrong")
    assert json.dumps(failure.details)


def test_keys_of_any_kind_are_details_with_secrets_or_without():
    details = {(1, 2): "a", None: "b"}

    assert classify(StepError("x", details=details)).details == {"(1, 2)": "a", "None": "b"}
    assert classify(StepError("x", details=details), Scrubber({"k3y-of-acme": "s"})).details


@pytest.mark.parametrize("said", [10**5_000, AwkwardKey()], ids=["long", "awkward"])
def test_a_message_and_a_fingerprint_that_cannot_be_read_are_replaced(said):
    failure = classify(StepError(said, ErrorType.TRANSIENT, fingerprint=said))

    assert failure.error_type == ErrorType.TRANSIENT
    assert failure.message == "StepError (its message could not be read)"
    assert failure.fingerprint == ""


def test_every_class_in_the_table_exists():
    def found(name):
        module, _, attribute = name.rpartition(".")
        loaded = __import__(module, fromlist=[attribute])
        kind = getattr(loaded, attribute)
        return f"{kind.__module__}.{kind.__qualname__}"

    assert {name: found(name) for name in BY_CLASS} == {name: name for name in BY_CLASS}
