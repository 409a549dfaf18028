"""`make up` from outside: one stack, created from nothing, survives disturbances."""

import os
import pwd
import re
import signal
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
import pytest
import redis

from tests.benchmarks import shapes
from tests.benchmarks.cast import Cast, Server
from tests.benchmarks.shipped.client import StackClient
from tests.benchmarks.shipped.loads import ShippedLoad
from tests.benchmarks.shipped.stack import RunningStack
from tests.support.folders import passable_folder
from tests.support.stack import PROJECT, Stack
from tests.support.waiting import wait_until, wait_until_gone
from valkyr_project.up.probes import answers

# In one process: each start of a separate one takes a CPU second.
KEYS_TURN = """
from django.core.management import call_command
for action in ("reseal", "retire", "show"):
    call_command("keys", action)
"""
PROCESSES = (
    "valkyr_project.http.server",
    "worker -n control@",
    "worker -n default@",
    "worker -n io@",
    "beat",
    "flower",
)
LONG_PATH = "a folder with spaces/" + "long" * 25


@dataclass(frozen=True)
class Starter:
    """The start of a stack: its Python, its arguments for subprocess, its environment."""

    python: str = sys.executable
    account: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def ordinary(self) -> bool:
        """Whether the user who runs the stack is not root."""
        return os.geteuid() != 0 or bool(self.account)


@pytest.fixture(scope="module")
def starter() -> Starter:
    """Return the user who runs the tests; for root, the account nobody if it can run Python
    here.
    """
    if os.geteuid() != 0:
        return Starter()
    nobody = pwd.getpwnam("nobody")
    account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    packages = sysconfig.get_path("purelib")
    test = f"import sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            subprocess.run([python, "-c", test], check=True, cwd="/", **account)  # type: ignore[call-overload]
            subprocess.run(["test", "-r", packages], check=True, cwd="/", **account)  # type: ignore[call-overload]
        except (OSError, subprocess.CalledProcessError):
            continue
        environment = {"PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"}
        return Starter(python, account, environment)
    return Starter()


@pytest.fixture(scope="module")
def stack(starter: Starter) -> Iterator[Stack]:
    """Start a new stack in a folder with spaces whose path is longer than a socket's can be."""
    with passable_folder(LONG_PATH) as folder:
        if starter.account:
            os.chown(folder, starter.account["user"], -1)
        home = folder / ".valkyr"
        with Stack(home, starter.environment, starter.python, **starter.account) as stack:
            stack.wait_ready()
            yield stack


def up(home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Start a stack that is expected to end without a signal; return the result."""
    return subprocess.run(
        [sys.executable, "-m", "valkyr_project.up"],
        cwd=PROJECT,
        env=os.environ | {"VALKYR_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def sign_in(url: str, username: str, password: str) -> bool:
    with httpx.Client(base_url=url, follow_redirects=True, timeout=120) as client:
        page = client.get("/admin/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token is not None
        client.post(
            "/admin/login/?next=/admin/",
            data={
                "csrfmiddlewaretoken": token[1],
                "username": username,
                "password": password,
            },
            headers={"Referer": url},
        )
        return "sessionid" in client.cookies


def test_the_printed_name_and_password_sign_in_to_the_admin(stack: Stack) -> None:
    printed = re.search(r"user (\S+), password (\S+) \(kept", stack.text)

    assert printed is not None, stack.text
    assert f"VALKYR_HOME='{stack.home}' make manage ARGS=" in stack.text
    assert sign_in(stack.url, printed[1], printed[2])
    assert not sign_in(stack.url, printed[1], "wrong")


def test_flower_asks_for_its_password_and_changes_nothing(stack: Stack) -> None:
    found: list[str] = []
    with httpx.Client(base_url=stack.flower_url, timeout=120) as client:

        def asked() -> list[str]:
            # Flower gives the workers a second to answer, and names those that did.
            found[:] = client.get("/api/workers?refresh=1").json()
            return found

        assert client.get("/").status_code == 401
        client.auth = ("admin", stack.secrets()["FLOWER_PASSWORD"])
        assert client.get("/workers").status_code == 200
        wait_until(asked, 60, "a worker that answers Flower")
        refused = client.post(f"/api/worker/shutdown/{found[0]}")
    assert refused.status_code in {403, 405}


def test_the_benchmark_counts_every_process_of_a_stack_that_it_sends_work(
    stack: Stack, tmp_path: Path
) -> None:
    account = {"username": "admin", "password": stack.secrets()["VALKYR_ADMIN_PASSWORD"]}
    seen = RunningStack(stack.home, stack.process.pid, account)
    document = shapes.single("data.set", {"values": {"n": 1}})
    load = ShippedLoad("few", "", document, executions=8, steps=1, plain="", held=True)

    with StackClient(seen, Cast(tmp_path, Server(0), Server(0))) as client:
        made = client.measure(client.publish(load.document, load.name), load, load.executions)

    assert made.steps == 8
    assert made.rate > 0
    processes = {"supervisor", "image", "web", "beat", "flower", "postgres", "redis"}
    workers = {"worker-control", "worker-default", "worker-io"}
    assert set(made.cpu) == set(seen.memory()) == processes | workers
    assert made.cpu_ms > 0


def test_everything_listens_on_this_machine_alone(stack: Stack) -> None:
    listening = {
        connection.laddr.ip
        for process in stack.family()
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }

    assert listening == {"127.0.0.1"}


def test_secrets_are_in_files_only_their_owner_reads_and_in_no_command_line(stack: Stack) -> None:
    for name in (
        "secrets.env",
        "installation.key",
        "running.json",
        "logs/web.log",
        "logs",
        "flower",
    ):
        path = stack.home / name
        if path.exists():
            assert not stat.S_IMODE(path.stat().st_mode) & 0o077, name
    commands = "\n".join(" ".join(process.cmdline()) for process in stack.family())
    for secret in stack.secrets().values():
        assert secret not in commands


def test_credentials_are_kept_with_the_key_made_here_and_their_keys_turn(stack: Stack) -> None:
    secret = "canary-5d1f0c"
    account = {"username": "admin", "password": stack.secrets()["VALKYR_ADMIN_PASSWORD"]}
    with httpx.Client(base_url=stack.url, timeout=120) as client:
        access = client.post("/v1/auth/token", json=account).json()["access"]
        client.headers["Authorization"] = f"Bearer {access}"
        given = {"name": "shop", "fields": {"value": secret}, "hosts": ["*"]}
        kept = client.post("/v1/Credential", json=given)
        assert kept.status_code == 201, kept.text
        manage(stack, "keys", "rotate")
        shown = manage(stack, "shell", "-c", KEYS_TURN)
        again = client.patch(f"/v1/Credential/{kept.json()['id']}", json={"description": "x"})

    assert again.status_code == 200
    assert "keyset version 3, sealed with file" in shown
    assert "seals 1 of executions.Credential.sealed" in shown
    for log in (stack.home / "logs").iterdir():
        assert secret not in log.read_text(), log


def manage(stack: Stack, *command: str) -> str:
    """Run a management command about the running stack; return its output."""
    done = stack.run("valkyr", "manage", *command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_command_seals_the_payloads_of_the_running_stack(stack: Stack) -> None:
    secret = "canary-8c27ab"
    document = shapes.single("data.set", {"values": {"of": "{{ input.of }}"}})
    account = {"username": "admin", "password": stack.secrets()["VALKYR_ADMIN_PASSWORD"]}

    with httpx.Client(base_url=stack.url, timeout=120) as client:
        access = client.post("/v1/auth/token", json=account).json()["access"]
        client.headers["Authorization"] = f"Bearer {access}"
        workflow = client.post("/v1/Workflow/import", json=document | {"name": "kept"}).json()["id"]
        assert client.post(f"/v1/Workflow/{workflow}/publish", json={}).status_code < 300

        def outputs() -> Any:
            told = {"params": {"of": secret}}
            asked = client.post(f"/v1/WorkflowExecution/{workflow}/execute", json=told).json()
            run = f"/v1/Run?executionId={asked['id']}&state=SUCCESS"
            wait_until(lambda: client.get(run).json(), 30, "the step's end")
            return stored_outputs(stack, asked["id"])

        assert secret in outputs()
        assert "seals payloads from now on" in manage(stack, "payload_keys", "on", "default")
        # As in a checkout; the workers read with each segment that the workspace seals.
        resealed = stack.run_file("manage.py", "payload_keys", "reseal", "default")
        after = outputs()
        manage(stack, "payload_keys", "off", "default")

    assert resealed.returncode == 0, resealed.stderr
    assert "rows changed" in resealed.stdout
    assert secret not in after
    assert "$sealed" in after


def stored_outputs(stack: Stack, execution: str) -> str:
    """Return the outputs of an execution's step, as they are in the database."""
    with psycopg.connect(stack.facts()["database_url"]) as connection:
        told = "SELECT outputs::text FROM runners_run WHERE execution_id = %s"
        row = connection.execute(told, [execution]).fetchone()
    assert row is not None
    return str(row[0])


def test_a_second_start_in_the_same_folder_says_where_the_first_one_is(stack: Stack) -> None:
    second = stack.run("valkyr_project.up")

    assert second.returncode == 1
    assert f"already runs in {stack.home} at {stack.url}" in second.stderr
    assert str(stack.process.pid) in second.stderr


@pytest.mark.parametrize("variable", ["PORT", "FLOWER_PORT"])
def test_a_port_in_use_is_named_with_its_holder_and_the_variable(
    stack: Stack, tmp_path: Path, variable: str
) -> None:
    refused = up(tmp_path / "home", **{"PORT": "1024", variable: str(stack.port)})

    assert refused.returncode == 1
    assert f"Port {stack.port} ({variable}) is in use by " in refused.stderr
    assert f"set {variable} to another port" in refused.stderr
    assert not (tmp_path / "home" / "postgres").exists()


def test_a_worker_that_is_killed_is_started_again(stack: Stack) -> None:
    killed = stack.find("worker -n io@")
    assert killed is not None
    killed.kill()

    wait_until_gone([killed.pid])
    wait_until(lambda: "worker-io ended (killed by SIGKILL)" in stack.text, 30)
    wait_until(lambda: stack.find("worker -n io@"), 30)


def test_a_worker_that_keeps_ending_is_named_and_everything_else_stays_up(stack: Stack) -> None:
    def health() -> dict[str, Any]:
        with httpx.Client(base_url=stack.url, timeout=120) as client:
            account = {"username": "admin", "password": stack.secrets()["VALKYR_ADMIN_PASSWORD"]}
            access = client.post("/v1/auth/token", json=account).json()["access"]
            client.headers["Authorization"] = f"Bearer {access}"
            found: dict[str, Any] = client.get("/actuator/health").json()["components"]["processes"]
            return found

    def named_once_killed() -> bool:
        if "worker-io ends right after each start (killed by SIGKILL)" in stack.text:
            return True
        if worker := stack.find("worker -n io@"):
            worker.kill()
        return False

    others = [name for name in PROCESSES if name != "worker -n io@"]
    before = {name: stack.find(name) for name in others}

    wait_until(named_once_killed, 60, "the message about a worker that keeps ending")

    found = health()
    assert found["status"] == "DOWN"
    assert found["found"].startswith("worker-io (killed by SIGKILL) keeps ending")
    assert "worker-io.log" in found["do"]
    assert stack.process.poll() is None
    assert {name: stack.find(name) for name in others} == before
    wait_until(lambda: "worker-io runs again." in stack.text, 90)
    wait_until(lambda: health()["status"] == "UP", 30)


def test_all_processes_are_forked_from_one_image_each_in_a_session_of_its_own(
    stack: Stack,
) -> None:
    launcher = stack.find("valkyr_project.image.launcher")
    assert launcher is not None
    held = [stack.find(name) for name in PROCESSES]

    assert all(process is not None for process in held)
    assert {process.ppid() for process in held if process} == {launcher.pid}
    assert all(os.getsid(process.pid) == process.pid for process in held if process)


def test_an_image_that_is_killed_is_started_again_with_all_that_it_held(stack: Stack) -> None:
    launcher = stack.find("valkyr_project.image.launcher")
    assert launcher is not None
    held = [process.pid for process in launcher.children(recursive=True)]

    launcher.kill()

    wait_until_gone([launcher.pid, *held])
    wait_until(lambda: "The process image ended unexpectedly" in stack.text, 30)
    wait_until(lambda: all(stack.find(name) for name in PROCESSES), 60)
    wait_until(lambda: answers(f"{stack.url}/actuator/health/ready"), 60)


def test_a_killed_redis_is_started_again_at_the_same_address(stack: Stack) -> None:
    address = stack.facts()["redis_url"]
    with redis.Redis.from_url(address) as client:
        client.set("tests:kept", "yes")
        wait_until(lambda: client.info("persistence")["aof_pending_bio_fsync"] == 0)
    killed = stack.find("valkey-server")
    assert killed is not None
    killed.kill()
    wait_until_gone([killed.pid])

    def answers() -> bool:
        with redis.Redis.from_url(address) as client:
            try:
                return bool(client.get("tests:kept") == b"yes")
            except redis.RedisError:
                return False

    wait_until(answers, 30)


def test_an_ordinary_user_finds_all_data_again_after_kill_9_of_everything(
    stack: Stack, starter: Starter
) -> None:
    if not starter.ordinary:
        pytest.skip("the account nobody can run no Python of this version here")
    with psycopg.connect(stack.facts()["database_url"], autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    secrets = stack.secrets()

    stack.kill_everything()
    stack.start()
    stack.wait_ready()

    with psycopg.connect(stack.facts()["database_url"]) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
    assert stack.secrets() == secrets
    assert sign_in(stack.url, "admin", secrets["VALKYR_ADMIN_PASSWORD"])


def test_given_servers_and_administrator_are_used_and_ctrl_c_leaves_them_alone(
    stack: Stack,
) -> None:
    facts = stack.facts()
    environment = {
        "VALKYR_STATIC_ROOT": str(stack.home / "static"),
        "DATABASE_URL": facts["database_url"],
        "REDIS_URL": facts["redis_url"],
        "VALKYR_ADMIN_USERNAME": "ada",
        "VALKYR_ADMIN_PASSWORD": "a-password-of-my-own",
        "VALKYR_KEY_PREFIX": "other:",
    }
    with passable_folder() as folder, Stack(folder / "home", environment) as other:
        other.wait_ready()
        assert sign_in(other.url, "ada", "a-password-of-my-own")
        assert "a-password-of-my-own" not in other.text
        assert not (other.home / "postgres").exists()
        assert not (other.home / "redis").exists()
        started = [process.pid for process in other.family()]

        assert other.stop(signal.SIGINT) == 0, other.text

        wait_until_gone(started)
    assert all(process.is_running() for process in stack.family())
    assert httpx.get(f"{stack.url}/admin/login/", timeout=120).status_code == 200
