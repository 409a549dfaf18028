"""Settings with which an installation must not start, and settings that it warns of."""

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from tests.support import nursery
from valkyr_project.processes.production import Installation, is_local, refusals, warnings

KEY = "0123456789abcdef" * 4
LOCAL = Installation(hosts=["127.0.0.1", "localhost", "[::1]"], secret_key=KEY)
PUBLIC = Installation(
    hosts=["valkyr.example.org"], secret_key=KEY, https=True, proxies=["127.0.0.1"]
)


def test_a_local_and_a_public_installation_start_in_silence() -> None:
    for one in (LOCAL, PUBLIC, replace(LOCAL, debug=True), replace(LOCAL, insecure_key=True)):
        assert refusals(one) == []
        assert warnings(one) == []


@pytest.mark.parametrize(
    ("change", "variable"),
    [
        ({"debug": True}, "VALKYR_DEBUG"),
        ({"hosts": []}, "VALKYR_ALLOWED_HOSTS"),
        ({"hosts": ["*"]}, "VALKYR_ALLOWED_HOSTS"),
        ({"hosts": ["a.example.org", "*.example.org"]}, "VALKYR_ALLOWED_HOSTS"),
        ({"hosts": ["."]}, "VALKYR_ALLOWED_HOSTS"),
        ({"https": False}, "VALKYR_HTTPS"),
        ({"insecure_key": True}, "VALKYR_INSECURE_KEY"),
        ({"secret_key": "k3y" * 10}, "VALKYR_SECRET_KEY"),
        ({"secret_key": "abcdefghi" * 10}, "VALKYR_SECRET_KEY"),
        ({"secret_key": "django-insecure-" + KEY}, "VALKYR_SECRET_KEY"),
        ({"secret_key": "insecure-" + KEY}, "VALKYR_SECRET_KEY"),
        ({"secret_key": "ChangeMe" + KEY}, "VALKYR_SECRET_KEY"),
        ({"old_keys": [KEY, "short"]}, "VALKYR_SECRET_KEY_FALLBACKS"),
    ],
)
def test_what_must_not_reach_others_is_refused_by_name(
    change: dict[str, Any], variable: str
) -> None:
    found = refusals(replace(PUBLIC, **change))

    assert len(found) == 1
    assert found[0].startswith(variable)


def test_a_weak_key_is_refused_on_this_machine_too() -> None:
    assert len(refusals(replace(LOCAL, secret_key="x" * 60))) == 1


def test_no_message_shows_a_secret() -> None:
    weak = replace(
        PUBLIC,
        secret_key="hush-hush",
        old_keys=["hush-too"],
        addresses={"REDIS_URL": "redis://:hush@redis.example.org/0", "DATABASE_URL": "x"},
    )

    assert "hush" not in repr([refusals(weak), warnings(weak), weak])


def test_plain_http_may_be_accepted_and_is_warned_of() -> None:
    accepted = replace(PUBLIC, https=False, allow_http=True)

    assert refusals(accepted) == []
    assert [text.split()[0] for text in warnings(accepted)] == ["VALKYR_ALLOW_HTTP"]


def test_https_without_a_named_proxy_is_warned_of() -> None:
    found = warnings(replace(PUBLIC, proxies=[]))

    assert [text.split()[0] for text in found] == ["VALKYR_TRUSTED_PROXIES"]


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("postgres://postgres:postgres@db.example.org/valkyr", True),
        ("postgres://app:app@127.0.0.1/valkyr", True),
        ("postgres://app:Passw0rd@127.0.0.1/valkyr", True),
        ("redis://redis.internal:6379/0", True),
        ("amqp://guest:guest@127.0.0.1//", True),
        ("amqp://127.0.0.1//;amqp://guest:guest@127.0.0.1//", True),
        ("amqp://u:8fG%2FpJ@mq.example.org//;amqp://mq2.example.org//", True),
        ("amqp://u:8fG;pJ@mq.example.org//;amqp://u:8fG%2FpJ@mq2.example.org//", False),
        ("postgres://app:8fG%2FpJ@db.example.org/valkyr", False),
        ("postgres://app@db.example.org/valkyr?sslcert=/etc/app.crt", False),
        ("redis://127.0.0.1:6379/0", False),
        ("redis+socket:///run/redis.sock", False),
        ("", False),
    ],
)
def test_a_password_that_everybody_tries_first_is_warned_of(url: str, warned: bool) -> None:
    found = warnings(replace(PUBLIC, addresses={"REDIS_URL": url}))

    assert bool(found) is warned


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("LOCALHOST", True),
        ("app.localhost", True),
        ("127.8.9.1", True),
        ("[::1]", True),
        (".localhost", False),
        ("localhost.example.org", False),
        ("10.0.0.1", False),
        ("0.0.0.0", False),
        ("*", False),
    ],
)
def test_a_host_is_local_only_if_it_can_be_nothing_else(host: str, local: bool) -> None:
    assert is_local(host) is local


def check(**environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    # `.ci/check` tests with the same command that this causes no warning either.
    return nursery.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        environment=kept | environment,
    )


def test_the_deployment_check_is_silent_with_production_settings_and_loud_without() -> None:
    production = {
        "VALKYR_SECRET_KEY": KEY,
        "VALKYR_ALLOWED_HOSTS": "valkyr.example.org",
        "VALKYR_HTTPS": "1",
        "VALKYR_TRUSTED_PROXIES": "10.0.3.0/24",
    }
    good = check(**production)
    warned = check(**production, REDIS_URL="redis://:redis@10.0.0.2/0")
    refused = check(**production | {"VALKYR_DEBUG": "1", "VALKYR_SECRET_KEY": "s" * 60})

    assert good.returncode == 0, good.stderr
    assert warned.returncode == 1
    assert "valkyr.W001" in warned.stderr
    assert refused.returncode == 1
    assert "VALKYR_DEBUG is 1" in refused.stderr
    assert "VALKYR_SECRET_KEY has only 1 different characters" in refused.stderr
    assert "s" * 60 not in refused.stderr


def files_root(**environment: str) -> str:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    script = "from valkyr_plugins.connectors.conf import settings; print(settings().files_root)"
    done = nursery.run(
        [sys.executable, "-c", script],
        environment=kept
        | {"VALKYR_SECRET_KEY": KEY, "VALKYR_HOME": "/tmp/h"}
        | {"DJANGO_SETTINGS_MODULE": "valkyr_project.settings"}
        | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_workspaces_share_no_folder_where_others_come_in_unless_somebody_says_so() -> None:
    public = {"VALKYR_ALLOWED_HOSTS": "valkyr.example.org", "VALKYR_HTTPS": "1"}

    assert files_root() == "/tmp/h/files"
    assert files_root(**public) == ""
    assert files_root(**public, VALKYR_FILES_ROOT="/srv/shared") == "/srv/shared"
